"""Bounds of an effect when people are lost differently (Lee 2009), with Imbens and Manski's interval (2004)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.toolbox.dependence import FEWEST_UNITS, TOO_FEW, Dependence
from analysis.toolbox.numbers import Result, Rows, column, numbers, undefined
from analysis.toolbox.regression import order_of_level

CHUNK = 2_000_000
"""Numbers held at once in the bootstrap."""
KEYS = "low high trimmed trimmed_share ci_low ci_high"


def lee_bounds(
    rows: Rows,
    outcome: str,
    arm: str,
    analysed: str,
    people: Sequence[str] = (),
    group: str | None = None,
    *,
    draws: int = 2000,
    seed: int = 1,
    level: float = 0.95,
) -> Result:
    """Return the bounds of the effect of an arm on those who would be analysed in either arm.

    Of the arm with the larger share analysed, the highest or lowest values are trimmed until the shares are equal; a
    value at the cut counts with the weight that is left. Being lost may only depend on the arm in one direction.

    Args:
        rows: everybody randomised.
        arm: a column with two levels; the effect is that of the second one, in the order of levels.
        analysed: a column with what is true of those whose outcome counts; a missing outcome is not analysed.
        people, group: as in `effects`, whose components are drawn in the bootstrap; else rows are.

    Returns:
        low, high: the bounds of the effect; trimmed (also as trimmed_share): the share trimmed of the analysed in one
        arm; ci_low, ci_high: Imbens and Manski's interval for the effect; shares analysed by level; n, clusters.
    """
    labels = column(rows, arm)
    levels = sorted({label for label in labels if label is not None and label == label}, key=order_of_level)
    if len(levels) != 2:
        return undefined(KEYS, "the arm does not have two levels", n=len(labels))
    known = np.isin(np.arange(len(labels)), [i for i, label in enumerate(labels) if label in levels])
    treated = np.array([label == levels[1] for label in labels])[known]
    y = numbers(rows, outcome)[known]
    kept = np.isfinite(y) & np.array([value is not None and bool(value) for value in column(rows, analysed)])[known]
    unit = np.unique(Dependence(rows, people, group).unit[known], return_inverse=True)[1]
    clusters = int(unit.max()) + 1
    shares = {str(name): float(kept[treated == side].mean()) for side, name in enumerate(levels)}
    result = {"n": int(known.sum()), "clusters": clusters, "shares": shares}
    if not (kept & treated).any() or not (kept & ~treated).any():
        return undefined(KEYS, "nobody was analysed in an arm", **result)
    bounds = _Bounds(np.where(kept, y, 0), treated, kept)
    (low,), (high,), (trimmed,) = bounds.weighted(np.ones((1, len(y))))
    result |= {"low": float(low), "high": float(high), "trimmed": float(trimmed), "trimmed_share": float(trimmed)}
    if clusters < FEWEST_UNITS:
        return {**undefined("ci_low ci_high", TOO_FEW), **result}
    rng = np.random.default_rng(seed)
    drawn = np.stack([np.bincount(rng.integers(0, clusters, clusters), minlength=clusters) for _draw in range(draws)])
    parts = np.array_split(drawn, 1 + draws * len(y) // CHUNK)
    ends = np.concatenate([np.stack(bounds.weighted(part[:, unit].astype(float))[:2]) for part in parts], axis=1)
    errors = np.nanstd(ends, axis=1, ddof=1).tolist()
    half = _imbens_manski(float(high - low), max(errors), level)
    return {**result, "ci_low": result["low"] - half * errors[0], "ci_high": result["high"] + half * errors[1]}


class _Bounds:
    """Lee's bounds under weights of the rows."""

    def __init__(self, y: np.ndarray, treated: np.ndarray, kept: np.ndarray) -> None:
        order = np.argsort(y, kind="stable")
        self.arms = [order[(treated[order] == side) & kept[order]] for side in (False, True)]
        self.everyone = [np.flatnonzero(treated == side) for side in (False, True)]
        self.y = y

    def weighted(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return low, high and the trimmed share for each row of weights; NaN if an arm is empty."""
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = [weights[:, kept].sum(axis=1) / weights[:, everyone].sum(axis=1)
                      for kept, everyone in zip(self.arms, self.everyone, strict=True)]  # fmt: skip
            fewer = np.minimum(*shares)
            # The lowest and highest mean of as many values of each arm as the other arm's share leaves.
            (low_0, high_0), (low_1, high_1) = (
                (self._lowest(rows, weights, fewer / own), self._lowest(rows[::-1], weights, fewer / own))
                for rows, own in zip(self.arms, shares, strict=True)
            )
            return low_1 - high_0, high_1 - low_0, 1 - fewer / np.maximum(*shares)

    def _lowest(self, rows: np.ndarray, weights: np.ndarray, remaining: np.ndarray) -> np.ndarray:
        """Return the mean of the first values, as many as have the remaining share of the weight."""
        own = weights[:, rows]
        mass = own.sum(axis=1) * remaining
        before = np.cumsum(own, axis=1) - own
        counted = np.clip(mass[:, None] - before, 0, own)
        mean: np.ndarray = (counted * self.y[rows]).sum(axis=1) / mass
        return mean


def _imbens_manski(width: float, se: float, level: float) -> float:
    """Return how many standard errors the interval for the effect reaches beyond its bounds."""
    from scipy.optimize import brentq
    from scipy.stats import norm

    if se <= 0:
        return 0.0
    return float(brentq(lambda c: norm.cdf(c + width / se) - norm.cdf(-c) - level, 0, norm.ppf((1 + level) / 2) + 1e-9))
