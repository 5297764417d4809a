"""What can go wrong around a match, as one tree."""

from __future__ import annotations


class MatchError(Exception):
    """Base of this app's errors; `str(error)` is fit to show."""


class Stale(MatchError):
    """The move answers a turn that is no longer open: it changed nothing, the page must catch up."""
