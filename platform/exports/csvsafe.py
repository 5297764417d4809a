"""Values as cells of a CSV file that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from analysis.formulas import defused, encoded


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


def storable(text: str) -> str:
    """Return `text` with the characters that `encoded` writes."""
    return text if text.isascii() else encoded(text).decode()
