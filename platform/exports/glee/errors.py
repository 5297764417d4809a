"""What stops a published game from being read."""

from __future__ import annotations


class UnreadableGame(ValueError):
    """A game that cannot be read; its text says what to mend, for the researcher who has the files."""
