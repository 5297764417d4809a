"""Find a participant's words, name and identifiers in other texts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from exports.scrubbing import Scrubber

QUOTED_WORDS = 4
"""Number of consecutive words of a participant that count as a quotation."""
SHORTEST_WORD = 4
"""A shorter single-word text identifies no one: "yes", "ok", "50"."""


class Traces:
    """What identifies a participant in texts.

    Args:
        names, identifiers: of the participant, as for `exports.scrubbing.Scrubber`.
        texts: everything the participant wrote.
    """

    def __init__(self, *, names: Iterable[str], identifiers: Iterable[str], texts: Iterable[str]):
        self._scrubber = Scrubber(names=names, identifiers=identifiers)
        self._word_runs: dict[int, set[tuple[str, ...]]] = {}
        for text in texts:
            words = _words(text)
            if not words or (len(words) == 1 and len(words[0]) < SHORTEST_WORD):
                continue
            size = min(QUOTED_WORDS, len(words))
            self._word_runs.setdefault(size, set()).update(_word_runs(words, size))

    def occur_in(self, text: str) -> bool:
        """Return whether `text` names or quotes the participant."""
        if self._scrubber.text(text) != text:
            return True
        words = _words(text)
        return any(not quoted_runs.isdisjoint(_word_runs(words, size)) for size, quoted_runs in self._word_runs.items())

    def without(self, data: Any, marker: str) -> Any:
        """Return plain data with the marker in place of every text that names or quotes them."""
        if isinstance(data, str):
            return marker if self.occur_in(data) else data
        if isinstance(data, dict):
            return {name: self.without(value, marker) for name, value in data.items()}
        if isinstance(data, list):
            return [self.without(value, marker) for value in data]
        return data

    def scrub(self, text: str, marker: str) -> str:
        """Return a researcher's text without their name and identifiers; only the marker if it quotes them."""
        scrubbed = self._scrubber.text(text)
        return marker if self.occur_in(scrubbed) else scrubbed


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())


def _word_runs(words: list[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}
