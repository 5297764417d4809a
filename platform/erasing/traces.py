"""Finding where somebody's words, name and identifiers stand in the texts of others."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from exports.scrubbing import Scrubber

RUN = 4
"""So many words in a row that somebody wrote are a quotation of them."""
SHORTEST = 4
"""A text of one word that is shorter says nothing about anybody: "yes", "ok", "50"."""


class Traces:
    """What gives somebody away.

    Args:
        names, identifiers: of the person, as `exports.scrubbing.Scrubber` takes them.
        texts: all that the person wrote.
    """

    def __init__(self, *, names: Iterable[str], identifiers: Iterable[str], texts: Iterable[str]):
        self._scrubber = Scrubber(names=names, identifiers=identifiers)
        self._runs: dict[int, set[tuple[str, ...]]] = {}
        for text in texts:
            words = _words(text)
            if not words or (len(words) == 1 and len(words[0]) < SHORTEST):
                continue
            size = min(RUN, len(words))
            self._runs.setdefault(size, set()).update(_runs(words, size))

    def stand_in(self, text: str) -> bool:
        """Whether `text` names the person or quotes them."""
        if self._scrubber.text(text) != text:
            return True
        words = _words(text)
        return any(not known.isdisjoint(_runs(words, size)) for size, known in self._runs.items())

    def without(self, data: Any, marker: str) -> Any:
        """Plain data with the marker instead of every text in which they stand."""
        if isinstance(data, str):
            return marker if self.stand_in(data) else data
        if isinstance(data, dict):
            return {name: self.without(value, marker) for name, value in data.items()}
        if isinstance(data, list):
            return [self.without(value, marker) for value in data]
        return data

    def scrub(self, text: str, marker: str) -> str:
        """A researcher's own sentence: without the person's name and identifiers, or not at all if it quotes them."""
        scrubbed = self._scrubber.text(text)
        return marker if self.stand_in(scrubbed) else scrubbed


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())


def _runs(words: list[str], size: int) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + size]) for i in range(len(words) - size + 1)}
