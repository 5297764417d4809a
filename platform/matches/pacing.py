"""How long a human would take to answer, so that speed does not show who is an agent."""

from __future__ import annotations

from random import Random

from games.interface import MoveData

SHORTEST, LONGEST = 1.0, 25.0
"""The bounds of every delay, in seconds."""
READING = (175, 300)
TYPING = (30, 74)
THINKING = (1.5, 5.0)
FILLING = (0.8, 2.5)
"""The seconds for each field after the first."""
LETTERS_PER_WORD = 5
"""Keystrokes per word, the usual unit of typing speed."""


def human_delay(move: MoveData, seen_message: str | None, rng: Random, *, fields: int = 1) -> float:
    """Return the seconds for reading the other's text, thinking, filling in the fields and typing the move's message.

    Reading: 175–300 words per minute, the range of most adults around the mean of 238 for non-fiction
    (Brysbaert 2019, “How many words do we read per minute?”, Journal of Memory and Language 109). Typing:
    30–74 words per minute, about one standard deviation on both sides of the mean of 52 (Dhakal et al.
    2018, “Observations on typing from 136 million keystrokes”, CHI '18). The seconds for thinking and for fields
    are our own choice. All are drawn first, so that with the same `rng` a longer move never takes less time.
    """
    reading, typing, thinking = rng.uniform(*READING), rng.uniform(*TYPING), rng.uniform(*THINKING)
    filling = rng.uniform(*FILLING)
    words_read = len((seen_message or "").split())
    message = move.get("message")
    words_typed = len(message) / LETTERS_PER_WORD if isinstance(message, str) else 0.0
    seconds = thinking + max(0, fields - 1) * filling + 60 * (words_read / reading + words_typed / typing)
    return min(LONGEST, max(SHORTEST, seconds))
