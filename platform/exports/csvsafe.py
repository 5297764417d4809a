"""Values as cells of a CSV file that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

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


def cell(value: Any) -> str:
    """Return `value` as the text of one cell: empty for None, TRUE/FALSE, a plain number, ISO 8601 in UTC, or text.

    Numbers, including negative ones, stay numbers; text that a spreadsheet would read as a formula is
    defused; anything else is compact JSON.
    """
    return defused(value) if isinstance(value, str) else plain(value)


def plain(value: Any) -> str:
    """Return `value` as `cell` writes it, but text unchanged: for formats that hold no formulas."""
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    if value is None:
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"  # as R and pandas both read them
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Decimal):
        return str(value)
    return compact_json(value)


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


def compact_json(value: Any) -> str:
    """Return `value` as compact JSON, without escaping non-ASCII characters."""
    return _COMPACT.encode(value)


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def line(cells: Iterable[str]) -> bytes:
    """Return one RFC 4180 record in UTF-8, including its line end."""
    return lines([cells])


def lines(records: Iterable[Iterable[Any]]) -> bytes:
    """Return RFC 4180 records in UTF-8, including line ends; the writer formats numbers and None as `cell` does."""
    buffer = io.StringIO()
    csv.writer(buffer).writerows(records)
    return encoded(buffer.getvalue())


def encoded(text: str) -> bytes:
    """Return text as UTF-8; lone surrogates, which some models send, become visible escapes instead of an error."""
    return text.encode("utf-8", "backslashreplace")


def storable(text: str) -> str:
    """Return `text` with the characters that `encoded` writes."""
    return text if text.isascii() else encoded(text).decode()
