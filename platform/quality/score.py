"""A score, with reasons, for how strongly a participant's pages suggest that a program used them. It decides nothing.

Each reason has a weight; weights combine like independent evidence: 1 - (1 - a)(1 - b)… Some reasons also occur with
assistive technology: no pointer, text without typing, long pasted text, clicks by an extension. None of them reaches
the threshold alone, nor do all of them together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod, sqrt

THRESHOLD = 0.7
"""Threshold from which a participant's data are flagged for analysis."""
WEIGHTS: Mapping[str, float] = {
    "trap": 0.9,
    "centred": 0.7,
    "instant": 0.6,
    "even_typing": 0.5,
    "jumps": 0.4,
    "scripted": 0.4,
    "fast_reading": 0.3,
    "untyped": 0.25,
    "pasted": 0.25,
}
MEANINGS: Mapping[str, str] = {
    "trap": "A field was filled in that only programs see.",
    "centred": "At least three mouse clicks on wide targets, four in five of them in the exact centre.",
    "instant": "Instructions of 100 words or more were answered within two seconds.",
    "even_typing": "At least 20 keys at almost equal intervals, or at over 300 words a minute.",
    "jumps": "At least three mouse clicks, four in five of them without pointer movement before them.",
    "scripted": "A script clicked or typed.",
    "fast_reading": "Instructions of 100 words or more were read at over 1,500 words a minute.",
    "untyped": "30 characters or more appeared without typing or pasting, most of what was written.",
    "pasted": "60 characters or more were pasted, most of what was written.",
}
_MIN_CLICKS, _MIN_SHARE = 3, 0.8
_MIN_KEYS, _MAX_VARIATION, _SHORTEST_MS = 20, 0.15, 40
_MIN_WORDS, _MAX_WORDS_PER_MINUTE, _INSTANT_MS = 100, 1500, 2000
_MIN_UNTYPED, _MIN_PASTED = 30, 60


@dataclass(frozen=True)
class Score:
    """A score from 0 to 1 with its reasons: names from `WEIGHTS`, heaviest first."""

    value: float
    reasons: tuple[str, ...]

    @property
    def flagged(self) -> bool:
        """Whether the score reaches the threshold: a hint for analyses and for nothing else."""
        return self.value >= THRESHOLD


def score(pages: Iterable[tuple[str, Mapping[str, int]]]) -> Score:
    """Return the score for one person's pages, each a kind of step with the `quality.behaviour.Figures` by name."""
    totals: dict[str, int] = {}
    words, reading_ms = 0, 0
    for kind, figures in pages:
        for name, value in figures.items():
            totals[name] = totals.get(name, 0) + value
        if kind == "instructions" and figures.get("answered_ms"):
            words = max(words, figures.get("words", 0))
            reading_ms += figures["answered_ms"]
    applicable = {name for name, holds in _tests(totals, words, reading_ms) if holds}
    reasons = tuple(name for name in WEIGHTS if name in applicable)
    return Score(round(1 - prod(1 - WEIGHTS[name] for name in reasons), 3), reasons)


def _tests(totals: Mapping[str, int], words: int, reading_ms: int) -> Iterable[tuple[str, bool]]:
    def sum_of(name: str) -> int:
        return totals.get(name, 0)

    characters = sum_of("typed") + sum_of("untyped") + sum_of("pasted")
    yield "trap", sum_of("trapped") > 0
    yield "centred", sum_of("wide") >= _MIN_CLICKS and sum_of("centred") >= _MIN_SHARE * sum_of("wide")
    yield "jumps", sum_of("clicks") >= _MIN_CLICKS and sum_of("jumps") >= _MIN_SHARE * sum_of("clicks")
    yield "even_typing", _even(sum_of("intervals"), sum_of("interval_ms"), sum_of("interval_sq"))
    yield "scripted", sum_of("untrusted") > 0
    has_read = words >= _MIN_WORDS and reading_ms > 0
    yield "instant", has_read and reading_ms < _INSTANT_MS
    yield "fast_reading", has_read and _INSTANT_MS <= reading_ms < words / _MAX_WORDS_PER_MINUTE * 60_000
    yield "untyped", sum_of("untyped") >= _MIN_UNTYPED and sum_of("untyped") > characters / 2
    yield "pasted", sum_of("pasted") >= _MIN_PASTED and sum_of("pasted") > characters / 2


def _even(intervals: int, total_ms: int, squares: int) -> bool:
    """Return whether intervals between keys are too even (coefficient of variation) or too short for human typing."""
    if intervals < _MIN_KEYS:
        return False
    mean = total_ms / intervals
    spread = sqrt(max(0.0, squares / intervals - mean * mean))
    return mean < _SHORTEST_MS or spread < _MAX_VARIATION * mean
