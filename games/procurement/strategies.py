"""How models are asked: with tools, one conversation for each period."""

from games.periods import STRATEGIES

__all__ = ["STRATEGIES"]
