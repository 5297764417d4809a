"""How EconEvals asked models: with tools, period by period."""

from games.periods import STRATEGIES

__all__ = ["STRATEGIES"]
