"""Removing identifying information from free text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from exports import alike

NAME = "[name]"
IDENTIFIER = "[identifier]"
CODE_WORD = "[code word]"
SHORT = "▮"
"""Replaces any of these if a longer marker would make a message too long to be replayed."""
SHORTEST_IDENTIFIER = 4
"""Shorter identifiers could be ordinary numbers or words and identify no one."""
LONG_IDENTIFIER = 8
"""Identifiers of at least this length are removed even from the middle of a word."""

_MARKED = re.compile("(" + "|".join(map(re.escape, (alike.EMAIL, alike.PHONE, IDENTIFIER, NAME, CODE_WORD))) + ")")
# A word next to a letter or digit is part of another word; an escape such as \n in quoted JSON is not a letter.
_BEGINS = r"(?:(?<![^\W_])|(?<=\\[nrtbf])|(?<=\\u[0-9a-fA-F]{4}))"
_ENDS = r"(?![^\W_]|[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff])"
_SPACE = r"(?:[\s_]|%20|\\+(?:[nrt]|u00a0))+"
"""Separators between the words of a name, also as written in JSON and links."""
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_QUOTES = "'’‘ʼ`´"
_HYPHENS = "-‐‑‒–"
_WITHOUT_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "THAI", "LAO", "KHMER", "MYANMAR", "BOPOMOFO")


class Scrubber:
    """Replaces display names, identifiers and used code words of a match's people with markers.

    Args:
        names: display names; cut out as whole words, in any case and either Unicode composition.
        identifiers: worker ids, tokens, codes, links; cut out as whole words, long ones anywhere.
        code_words: hidden words; cut out as whole words.
        generic: also cut out what looks like contact data, a worker's identifier or a key, no matter whose it is.
    """

    def __init__(
        self,
        *,
        names: Iterable[str] = (),
        identifiers: Iterable[str] = (),
        code_words: Iterable[str] = (),
        generic: bool = False,
    ):
        self._generic = generic
        patterns: list[tuple[str, re.Pattern[str]]] = []
        for marker, alternatives in (
            (
                IDENTIFIER,
                [_identifier(text) for text in _longest_first(identifiers) if len(text) >= SHORTEST_IDENTIFIER],
            ),
            (NAME, [_whole_word(name) for name in _longest_first(names)]),
            (CODE_WORD, [_whole_word(word) for word in _longest_first(code_words)]),
        ):
            if alternatives:
                patterns.append((marker, re.compile("|".join(alternatives), re.IGNORECASE)))
        self._patterns = patterns

    def text(self, text: str, *, limit: int | None = None) -> str:
        """Return `text` with markers in their place, at most `limit` characters long if the original was."""
        scrubbed = self._replaced(text)
        if limit is None or len(scrubbed) <= limit:
            return scrubbed
        # Text that was already longer (in an imported game) may stay so; only names are removed.
        return self._replaced(text, by=SHORT)[: max(limit, len(text))]

    def _replaced(self, text: str, *, by: str | None = None) -> str:
        if self._patterns and not text.isascii():
            text = self._normalised(text)
        # Contact data first: a name within it would leave the rest of it behind.
        if self._generic:
            text = alike.mask_contacts(text, marker=by)
        for marker, pattern in self._patterns:
            parts = _MARKED.split(text)  # at odd places: markers
            text = "".join(part if i % 2 else pattern.sub(by or marker, part) for i, part in enumerate(parts))
        return alike.mask_identifiers(text, marker=by) if self._generic else text

    def _normalised(self, text: str) -> str:
        """Return `text` without invisible characters and in plain letters, if it names someone only in that form."""
        plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
        if plain == text:
            return text
        reveals_more = (len(pattern.findall(plain)) > len(pattern.findall(text)) for _marker, pattern in self._patterns)
        return plain if any(reveals_more) else text

    def data(self, data: Any) -> Any:
        """Return plain data with every text in it scrubbed, including keys."""
        if isinstance(data, str):
            return self.text(data)
        if isinstance(data, Mapping):
            return {self.text(key): self.data(value) for key, value in data.items()}
        if isinstance(data, list | tuple):
            return [self.data(value) for value in data]
        return data

    def move(self, move: Mapping[str, Any], *, choices: frozenset[str], limit: int) -> dict[str, Any]:
        """Return a move with its free text scrubbed; fields in `choices` hold the game's own words and stay."""
        return {
            name: value
            if name in choices
            else self.text(value, limit=limit)
            if isinstance(value, str)
            else self.data(value)
            for name, value in move.items()
        }


def mentions(texts: Iterable[str], word: str) -> bool:
    """Return whether `word` occurs in one of `texts` as a whole word."""
    pattern = re.compile(_whole_word(word), re.IGNORECASE)
    return any(pattern.search(text) for text in texts)


def texts_in(data: Any) -> Iterable[str]:
    """Yield every text inside plain data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from texts_in(value)
    elif isinstance(data, list | tuple):
        for value in data:
            yield from texts_in(value)


def _longest_first(texts: Iterable[str]) -> list[str]:
    return sorted({text.strip() for text in texts if text and text.strip()}, key=lambda text: (-len(text), text))


def _identifier(text: str) -> str:
    pattern = _spelling_pattern(text)
    return pattern if len(text) >= LONG_IDENTIFIER else f"{_BEGINS}{pattern}{_ENDS}"


def _whole_word(word: str) -> str:
    composed = unicodedata.normalize("NFC", word)
    begins = "" if _needs_no_spaces(composed[0]) else _BEGINS
    ends = "" if _needs_no_spaces(composed[-1]) else _ENDS
    return f"{begins}{_spelling_pattern(composed)}{ends}"


def _needs_no_spaces(letter: str) -> bool:
    """Return whether this letter's script puts no spaces between words."""
    return unicodedata.name(letter, "").startswith(_WITHOUT_SPACES)


def _spelling_pattern(word: str) -> str:
    """Return a pattern for `word` in every case, composition and escape in which it may be written."""
    pattern = ""
    for part in re.split(r"(\s+)", word):
        pattern += (
            _SPACE
            if part.isspace()
            else "".join(_letter_pattern(letter) for letter in unicodedata.normalize("NFC", part))
        )
    return pattern


def _letter_pattern(letter: str) -> str:
    for alike_signs in (_QUOTES, _HYPHENS):
        if letter in alike_signs:
            return _any_of(set(alike_signs))
    cases = {letter, letter.lower(), letter.upper(), letter.casefold(), letter.title()}
    spellings = {unicodedata.normalize(form, case) for form in ("NFC", "NFD") for case in cases}
    return re.escape(letter) if len(spellings) == 1 else _any_of(spellings)


def _any_of(spellings: set[str]) -> str:
    """Return a pattern for any of these spellings, plain or escaped."""
    patterns = {re.escape(spelling) for spelling in spellings}
    # JSON within JSON has its backslashes doubled.
    patterns |= {
        re.escape(_escaped(spelling)).replace("\\\\", "\\\\+") for spelling in spellings if not spelling.isascii()
    }
    return f"(?:{'|'.join(sorted(patterns, key=lambda s: (-len(s), s)))})"


def _escaped(text: str) -> str:
    r"""Return text as escaped in JSON: é → \u00e9."""
    units = text.encode("utf-16-be")
    return "".join(
        chr(unit) if unit < 128 else f"\\u{unit:04x}"
        for unit in (int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
    )
