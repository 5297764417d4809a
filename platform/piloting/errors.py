"""What can go wrong with a pilot, as one tree."""

from __future__ import annotations


class PilotError(Exception):
    """Base: `str(error)` is fit to be shown to the researcher."""


class CannotPilot(PilotError):
    """The pilot was not begun, stopped or deleted; nothing has changed."""


class Stuck(PilotError):
    """A simulated person can go no further; a real one might not either."""
