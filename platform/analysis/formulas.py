"""Text in files that spreadsheets open: nothing in it is read as a formula."""

from __future__ import annotations

import re

_INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060\u00ad\u200e\u200f"
_HARMLESS = '{["('
"""First characters of JSON and other text that is not a formula."""
_SIGN = "[=+\\-@＝＋－＠]"
_SEPARATOR = rf"[;\t\r\n][\s{_INVISIBLE}]*"
_WITHIN = re.compile(rf"({_SEPARATOR})(?={_SIGN})")
"""Places where a program that splits cells at semicolons, tabs or line ends would see a formula begin."""
_TO_MARK = re.compile(rf"({_SEPARATOR}'*)(?={_SIGN})")
_MARKED = re.compile(rf"({_SEPARATOR})'('*{_SIGN})")
_FORMULA = re.compile(rf"[\s{_INVISIBLE}]*{_SIGN}|[{_INVISIBLE}]*[\t\r\n]")


def defused(text: str) -> str:
    """Return `text` with an apostrophe wherever a spreadsheet would read a formula.

    Spaces and invisible characters before the sign make no difference. A leading tab or line end also counts, and
    so does what follows a semicolon, a tab or a line end, because programs differ in the separators they read.
    """
    marked = _WITHIN.sub(r"\1'", text)
    return f"'{marked}" if is_formula(text) else marked


def mark_within(text: str) -> str:
    """Return `text` defused after its separators, so that `unmark_within` can restore it."""
    return _TO_MARK.sub(r"\1'", text)


def unmark_within(text: str) -> str:
    """Return the text that `mark_within` was given."""
    return _MARKED.sub(r"\1\2", text)


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet that reads the whole cell would treat it as a formula."""
    return not (text[:1].isalnum() or text[:1] in _HARMLESS) and _FORMULA.match(text) is not None


def encoded(text: str) -> bytes:
    """Return text as UTF-8; lone surrogates, which some models send, become visible escapes instead of an error."""
    return text.encode("utf-8", "backslashreplace")
