"""Rows and numbers that may be missing, and results that are undefined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

Value = float | int | bool | None
Result = dict[str, Any]
Row = Mapping[str, Any]
Rows = Sequence[Row] | Any
"""Dictionaries, or a pandas frame."""


def known(values: Iterable[Value]) -> list[float]:
    """Return the finite numbers among the values, as floats."""
    return [number for value in values if (number := finite(value)) is not None]


def known_pairs(a: Sequence[Value], b: Sequence[Value]) -> tuple[list[float], list[float]]:
    """Return the pairs without missing values; the longer sequence is truncated."""
    pairs = [(finite(x), finite(y)) for x, y in zip(a, b, strict=False)]
    both = [(x, y) for x, y in pairs if x is not None and y is not None]
    return [x for x, _y in both], [y for _x, y in both]


def finite(value: Any) -> float | None:
    """Return a float, or None if the value is not a finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if isfinite(number) else None


def column(rows: Rows, name: str) -> np.ndarray:
    """Return one column of the rows as objects, with None for missing values."""
    if not isinstance(rows, Sequence):
        known = rows[name].notna()
        return np.asarray(rows[name].astype("object").where(known, None))
    values = np.empty(len(rows), dtype=object)
    values[:] = [row.get(name) for row in rows]
    return values


def numbers(rows: Rows, name: str) -> np.ndarray:
    """Return one column of the rows as floats, with NaN for what is not a finite number."""
    return np.array([np.nan if (number := finite(value)) is None else number for value in column(rows, name)])


def undefined(keys: str, note: str, **values: Any) -> Result:
    """Return a result whose `keys` are None, with the reason as a note."""
    return {**dict.fromkeys(keys.split()), **values, "note": note}
