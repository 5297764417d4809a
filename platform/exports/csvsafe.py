"""Values as cells of a CSV file that a spreadsheet may open without being told what to do by them."""

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
"""Signs with which JSON and other words begin that are no formula."""
_WITHIN = re.compile(rf"([;\t\r\n][\s{_INVISIBLE}]*)(?=[=+\-@＝＋－＠])")
"""Where a program that takes semicolons, tabs or line ends for the ends of cells would begin a formula."""
_FORMULA = re.compile(rf"[\s{_INVISIBLE}]*[=+\-@＝＋－＠]|[{_INVISIBLE}]*[\t\r\n]")


def cell(value: Any) -> str:
    """`value` as the text of one cell: empty for None, true/false, a plain number, ISO 8601 in UTC, or words.

    Numbers stay numbers, negative ones too; words that a spreadsheet would take for a formula are
    defused; anything else is compact JSON.
    """
    return defused(value) if isinstance(value, str) else plain(value)


def plain(value: Any) -> str:
    """`value` as `cell` writes it, but words as they are: for formats in which nothing is ever calculated."""
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
    """Whether a spreadsheet that reads the cell whole would take it for a formula."""
    return not (text[:1].isalnum() or text[:1] in _HARMLESS) and _FORMULA.match(text) is not None


def compact_json(value: Any) -> str:
    """`value` as JSON without needless spaces, in its own alphabet."""
    return _COMPACT.encode(value)


_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def line(cells: Iterable[str]) -> bytes:
    """One record of RFC 4180 in UTF-8, its line end included."""
    return lines([cells])


def lines(records: Iterable[Iterable[Any]]) -> bytes:
    """Records of RFC 4180 in UTF-8, their line ends included; of numbers and None the writer makes what `cell` does."""
    buffer = io.StringIO()
    csv.writer(buffer).writerows(records)
    return encoded(buffer.getvalue())


def encoded(text: str) -> bytes:
    """UTF-8; half characters, which some models send, become visible escapes instead of an error."""
    return text.encode("utf-8", "backslashreplace")


def whole(text: str) -> str:
    """`text` as `encoded` writes it."""
    return text if text.isascii() else encoded(text).decode()
