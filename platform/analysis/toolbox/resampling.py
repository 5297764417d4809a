"""Percentile bootstrap over clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.toolbox.dependence import FEWEST_UNITS, TOO_FEW
from analysis.toolbox.numbers import Result, Row, finite, undefined

if TYPE_CHECKING:
    import pandas as pd


def bootstrap(
    rows: Sequence[Row],
    statistic: Callable[[list[Row]], float | None],
    cluster: str,
    draws: int = 2000,
    seed: int = 1,
    *,
    level: float = 0.95,
) -> Result:
    """Return a statistic of a list of rows, with a percentile bootstrap interval over clusters.

    Clusters are sorted by their label; each draw takes `rng.integers(0, G, size=G)` of them.

    Args:
        cluster: the column with each row's cluster.
    """
    by_label: dict[Any, list[Row]] = {}
    for row in rows:
        by_label.setdefault(row[cluster], []).append(row)
    clusters = [by_label[label] for label in sorted(by_label, key=lambda label: (str(type(label)), label))]
    estimate = finite(statistic(list(rows))) if rows else None
    if len(clusters) < 2:
        return undefined("low high", "fewer than two clusters", estimate=estimate, n=len(rows), clusters=len(clusters))
    rng = np.random.default_rng(seed)
    drawn = []
    for _draw in range(draws):
        chosen = rng.integers(0, len(clusters), size=len(clusters))
        value = finite(statistic([row for index in chosen for row in clusters[index]]))
        if value is not None:
            drawn.append(value)
    if estimate is None or not drawn:
        return undefined("low high", "the statistic is not defined", estimate=estimate, n=len(rows))
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return {"estimate": estimate, "low": float(low), "high": float(high), "n": len(rows), "clusters": len(clusters)}


def bootstrap_ratio(
    above: Sequence[float] | pd.Series,
    below: Sequence[float] | pd.Series,
    clusters: Sequence[Any] | pd.Series,
    draws: int = 2000,
    seed: int = 1,
    *,
    level: float = 0.95,
) -> dict[str, Any]:
    """Return Σ above / Σ below with the interval of `bootstrap`, all draws at once; a mean if `below` is 1.

    With fewer than five clusters there is no interval.
    """
    total, n = float(np.sum(below)), len(above)
    estimate = finite(float(np.sum(above)) / total) if total else None
    labels, codes = np.unique(np.asarray([str(label) for label in clusters]), return_inverse=True)
    if len(labels) < FEWEST_UNITS:
        return undefined("low high", TOO_FEW, estimate=estimate, n=n, clusters=len(labels))
    sums = np.column_stack([np.bincount(codes, weights=np.asarray(v, dtype=float)) for v in (above, below)])
    chosen = np.random.default_rng(seed).integers(0, len(labels), size=(draws, len(labels)))
    drawn = sums[chosen].sum(axis=1)
    drawn = drawn[drawn[:, 1] != 0]
    if estimate is None or not len(drawn):
        return undefined("low high", "the statistic is not defined", estimate=estimate, n=n, clusters=len(labels))
    low, high = np.quantile(drawn[:, 0] / drawn[:, 1], [(1 - level) / 2, (1 + level) / 2])
    return {"estimate": estimate, "low": float(low), "high": float(high), "n": n, "clusters": len(labels)}
