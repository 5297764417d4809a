"""What readers see instead of the keys in the files: the researcher's names of agents and arms, the game's of seats.

Files for programs (CSV, the keys of results.json) keep the keys.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

BETWEEN = " · "
"""What stands between the levels of several factors."""


class Names:
    """A function from text with keys to text with names.

    Attributes:
        anywhere: names of keys that are replaced wherever they stand as words.
        alone: names of keys that are replaced only if they are the whole text, or a level in it.
    """

    def __init__(self, anywhere: Mapping[str, str] = {}, alone: Mapping[str, str] = {}) -> None:
        self.names = {**alone, **anywhere}
        self.anywhere, self.alone = anywhere, alone

    @cached_property
    def _pattern(self) -> re.Pattern[str] | None:
        parts = []
        for keys, before, after in (
            (self.anywhere, r"(?<![\w:.-])", r"(?![\w-]|[.:]\w)"),
            (self.alone, rf"(?:^|(?<=: )|(?<={BETWEEN}))", rf"(?=$|{BETWEEN})"),
        ):
            if keys:
                longest_first = sorted(map(re.escape, keys), key=len, reverse=True)
                parts.append(f"{before}(?:{'|'.join(longest_first)}){after}")
        return re.compile("|".join(parts)) if parts else None

    def __call__(self, text: str) -> str:
        return self._pattern.sub(lambda key: self.names[key[0]], text) if self._pattern else text


KEYS = Names()
"""Keys as they are."""
