"""Numbers that may be missing, and results that are undefined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any

Value = float | int | bool | None
Result = dict[str, Any]


def known(values: Iterable[Value]) -> list[float]:
    """Return the finite numbers among the values, as floats."""
    return [float(value) for value in values if _is_number(value)]


def known_pairs(a: Sequence[Value], b: Sequence[Value]) -> tuple[list[float], list[float]]:
    """Return the pairs without missing values; the longer sequence is truncated."""
    pairs = [(float(x), float(y)) for x, y in zip(a, b, strict=False) if _is_number(x) and _is_number(y)]  # type: ignore[arg-type]
    return [x for x, _y in pairs], [y for _x, y in pairs]


def _is_number(value: object) -> bool:
    try:
        return value is not None and isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False


def finite(value: object) -> float | None:
    """Return a float, or None if the value is not a finite number."""
    return float(value) if _is_number(value) else None  # type: ignore[arg-type]


def undefined(keys: str, note: str, **values: Any) -> Result:
    """Return a result whose `keys` are None, with the reason as a note."""
    return {**dict.fromkeys(keys.split()), **values, "note": note}
