"""The errors of pilots."""

from __future__ import annotations


class PilotError(Exception):
    """Base class; `str(error)` can be shown to the researcher."""


class CannotPilot(PilotError):
    """The pilot was not started, stopped or deleted; nothing changed."""


class Stuck(PilotError):
    """A simulated participant cannot continue; a real one might get stuck here too."""
