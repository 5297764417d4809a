"""How long a human would take to answer, so that speed does not give an agent away."""

from __future__ import annotations

from random import Random

from games.interface import MoveData

SHORTEST, LONGEST = 1.0, 25.0
"""The bounds of every delay, in seconds."""
READING = (175, 300)
TYPING = (30, 74)
THINKING = (1.5, 5.0)
LETTERS_PER_WORD = 5
"""Keystrokes per word, the usual unit of typing speed."""


def human_delay(move: MoveData, seen_message: str | None, rng: Random) -> float:
    """Return the seconds for reading the other's text, thinking, and typing the move's own message.

    Reading: 175–300 words per minute, the range of most adults around the mean of 238 for non-fiction
    (Brysbaert 2019, “How many words do we read per minute?”, Journal of Memory and Language 109). Typing:
    30–74 words per minute, about one standard deviation on both sides of the mean of 52 (Dhakal et al.
    2018, “Observations on typing from 136 million keystrokes”, CHI '18). The seconds for thinking are our
    own choice. All three are drawn first, so that with the same `rng` a longer text never takes less time.
    """
    reading, typing, thinking = rng.uniform(*READING), rng.uniform(*TYPING), rng.uniform(*THINKING)
    words_read = len((seen_message or "").split())
    message = move.get("message")
    words_typed = len(message) / LETTERS_PER_WORD if isinstance(message, str) else 0.0
    seconds = thinking + 60 * (words_read / reading + words_typed / typing)
    return min(LONGEST, max(SHORTEST, seconds))
