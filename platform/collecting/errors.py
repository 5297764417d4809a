"""What can go wrong with a collection, for the researcher who asked for it."""

from __future__ import annotations


class CollectingError(Exception):
    """Base of this package's errors; `str(error)` is fit to show."""


class BadPlan(CollectingError):
    """The collection could not be played as asked; says which part is wrong and why."""


class WrongMoment(CollectingError):
    """That cannot be done to a collection in its present state."""


class LeaseLost(CollectingError):
    """Somebody else plays this item now; nothing was changed."""
