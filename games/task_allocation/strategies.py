"""How EconEvals asked models: with tools, one period at a time."""

from games.periods import STRATEGIES

__all__ = ["STRATEGIES"]
