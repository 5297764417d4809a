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
"""Characters with which JSON and other text begins that is not a formula."""
_WITHIN = re.compile(rf"([;\t\r\n][\s{_INVISIBLE}]*)(?=[=+\-@＝＋－＠])")
"""Places where a program that splits cells at semicolons, tabs or line ends would start a formula."""
_FORMULA = re.compile(rf"[\s{_INVISIBLE}]*[=+\-@＝＋－＠]|[{_INVISIBLE}]*[\t\r\n]")


def cell(value: Any) -> str:
    """`value` as the text of one cell: empty for None, true/false, a plain number, ISO 8601 in UTC, or words.

    Numbers stay numbers, negative ones too; words that a spreadsheet would take for a formula are
    defused; anything else is compact JSON.
    """
    return defused(value) if isinstance(value, str) else plain(value)


def plain(value: Any) -> str:
    """Return `value` as `cell` writes it, but text unchanged: for formats in which nothing is ever calculated."""
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
    """`text` with an apostrophe before it where a spreadsheet would read a formula.

    Spaces and invisible characters before the sign do not help it; a leading tab or line end counts too, and so
    does what follows a semicolon, a tab or a line end: not every program reads the same separators.
    """
    within = _WITHIN.sub(r"\1'", text)
    return f"'{within}" if begins_a_formula(text) else within


def begins_a_formula(text: str) -> bool:
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


def whole(text: str) -> str:
    """Return `text` as `encoded` writes it."""
    return text if text.isascii() else encoded(text).decode()
