"""Adjustment for multiple tests."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p: Sequence[float | None]) -> list[float | None]:
    """Return Holm-adjusted p-values in the given order; missing ones stay missing and do not count."""
    ordered = sorted((value, index) for index, value in enumerate(p) if value is not None)
    adjusted: list[float | None] = [None] * len(p)
    highest = 0.0
    for rank, (value, index) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - rank) * value))
        adjusted[index] = highest
    return adjusted
