"""Errors of matches."""

from __future__ import annotations


class MatchError(Exception):
    """Base class; `str(error)` can be shown to participants."""


class Stale(MatchError):
    """The move answers a turn that is no longer open: nothing was changed, and the page must be updated."""
