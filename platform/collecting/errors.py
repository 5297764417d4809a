"""The errors of collections."""

from __future__ import annotations


class CollectingError(Exception):
    """Base of this package's errors; `str(error)` can be shown to the user."""


class WrongState(CollectingError):
    """The action is not possible in the collection's current state."""


class LeaseLost(CollectingError):
    """Another driver plays this item now; nothing was changed."""
