"""Errors in reading a published game."""

from __future__ import annotations


class UnreadableGame(ValueError):
    """A game that cannot be read; the text tells the researcher who has the files what to fix."""
