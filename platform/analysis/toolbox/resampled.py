"""Tests of one term of a regression by resampling: randomisation inference and the wild cluster bootstrap.

Both test any value of the term at once, so that their intervals are the values that they do not reject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import comb, prod
from typing import Any

import numpy as np

from analysis.toolbox.numbers import Result

MOST_ENUMERATED = 10_000
WEBB_BELOW = 12
"""With fewer units, the wild bootstrap's weights are Webb's six values, else Rademacher's two."""
FARTHEST, PRECISION = 10_000, 1e-6
"""An end of an interval is sought within so many standard errors, and found to this share of its distance."""
SAME = 1e-10
"""Statistics this close, relative to their size, are equal."""


def interval(
    p: Callable[[float], float], estimate: float, se: float, level: float
) -> tuple[float | None, float | None]:
    """Return where a test's p-value falls below 1 - level on either side of the estimate, by bisection."""
    ends: list[float | None] = []
    for side in (-1, 1):
        inside, step = 0.0, se
        while p(estimate + side * step) >= 1 - level and step <= FARTHEST * se:
            inside, step = step, 2 * step
        if not 0 < step <= FARTHEST * se:
            ends.append(None)
            continue
        while step - inside > PRECISION * step:
            middle = (inside + step) / 2
            inside, step = (middle, step) if p(estimate + side * middle) >= 1 - level else (inside, middle)
        ends.append(estimate + side * (inside + step) / 2)
    return ends[0], ends[1]


# ---- wild cluster bootstrap ----------------------------------------------------------------------------------


def wild_bootstrap(
    x: np.ndarray, y: np.ndarray, unit: np.ndarray, index: int, *, draws: int, seed: int, level: float
) -> Result:
    """Return the restricted wild cluster bootstrap of a term (Cameron, Gelbach & Miller 2008; Webb 2023).

    The statistic is the t ratio with CR1 errors, p is symmetric, and the weights are the same for every tested value.

    Args:
        unit: each row's unit, from 0.

    Returns:
        estimate, low, high, p, draws (of weights), enumerated (whether these are all).
    """
    number = int(unit.max()) + 1
    weights, enumerated = _weights(number, draws, seed)
    inverse = np.linalg.inv(x.T @ x)
    leading = x @ inverse[:, index]

    def sums(values: np.ndarray) -> np.ndarray:
        found = np.zeros((number, *values.shape[1:]))
        np.add.at(found, unit, values)
        return found

    # Of each unit, what its residuals do to the term: through its own rows, and through all fitted values.
    others = np.delete(x, index, axis=1)
    through = sums(leading[:, None] * x)
    moved, spread = [], []
    for values in (y, x[:, index]):
        residuals = values - others @ np.linalg.lstsq(others, values, rcond=None)[0]
        own = sums(leading * residuals)
        moved.append(weights @ own)
        spread.append(weights @ (np.diag(own) - through @ inverse @ sums(residuals[:, None] * x).T).T)
    quadratic = [(spread[a] * spread[b]).sum(axis=1) for a, b in ((0, 0), (0, 1), (1, 1))]
    beta = inverse @ (x.T @ y)
    estimate, variance = float(beta[index]), float((sums(leading * (y - x @ beta)) ** 2).sum())
    total = float((quadratic[0] + estimate**2 * quadratic[2]).max())

    def p(tested: float) -> float:
        numerator = (moved[0] - tested * moved[1]) ** 2
        below = quadratic[0] - 2 * tested * quadratic[1] + tested**2 * quadratic[2]
        observed = (estimate - tested) ** 2 / variance
        # Without any spread, a statistic is infinite, or undefined and not beyond the observed one.
        beyond = numerator >= observed * np.maximum(below, SAME * SAME * total) * (1 - SAME)
        more = int((beyond & ((numerator > 0) | (observed == 0))).sum())
        return more / len(weights) if enumerated else (1 + more) / (1 + len(weights))

    low, high = interval(p, estimate, variance**0.5, level)
    return {"estimate": estimate, "low": low, "high": high, "p": p(0.0), "draws": len(weights),
            "enumerated": enumerated}  # fmt: skip


def _weights(units: int, draws: int, seed: int) -> tuple[np.ndarray, bool]:
    """Return vectors of weights, all that exist if these are not more than the draws, and whether they are all."""
    webb = np.sqrt(np.array([0.5, 1.0, 1.5]))
    values = np.concatenate([-webb[::-1], webb]) if units < WEBB_BELOW else np.array([-1.0, 1.0])
    if len(values) ** units <= draws:
        return np.array([*product(values, repeat=units)]), True
    return np.random.default_rng(seed).choice(values, size=(draws, units)), False


# ---- randomisation inference ---------------------------------------------------------------------------------


def randomisation(
    columns: np.ndarray,
    assigned: Sequence[int | None],
    y: np.ndarray,
    level_of: np.ndarray,
    unit: np.ndarray,
    block: np.ndarray,
    index: int,
    *,
    draws: int,
    seed: int,
    level: float,
) -> Result:
    """Return randomisation inference for a term of an assigned factor: p of the sharp null hypothesis of no effect.

    Units are assigned again within their blocks, as often to each level as they were; all such assignments are
    enumerated if there are at most 10,000. The interval has the constant effects that are not rejected.

    Args:
        columns: the regression's columns; where they belong to the factor, without its own dummy.
        assigned: for each column, the level's code if it belongs to the factor, else None.
        level_of, unit, block: each row's level, assigned unit and block, from 0.

    Returns:
        low, high, p, draws, enumerated, and smallest_p: the smallest p that these assignments allow.
    """
    number = int(unit.max()) + 1
    first = np.unique(unit, return_index=True)[1]
    given, blocks = level_of[first], block[first]
    levels, enumerated = _assignments(given, blocks, draws, seed)
    dummies = np.ones((len(columns), columns.shape[1]))
    for position, code in enumerate(assigned):
        if code is not None:
            dummies[:, position] = level_of == code
    tested = columns[:, index] * dummies[:, index]
    products = np.zeros((number, columns.shape[1], columns.shape[1]))
    moments = np.zeros((number, columns.shape[1], 2))
    np.add.at(products, unit, columns[:, :, None] * columns[:, None, :])
    np.add.at(moments, unit, columns[:, :, None] * np.stack([y, tested], axis=1)[:, None, :])
    found = [_coefficients(levels[some], assigned, products, moments, index)
             for some in np.array_split(np.arange(len(levels)), 1 + len(levels) * number // 100_000)]  # fmt: skip
    drawn = np.concatenate(found)
    (estimate, _one), drawn = _coefficients(given[None], assigned, products, moments, index)[0], drawn[
        np.isfinite(drawn).all(axis=1)]  # fmt: skip

    def p(value: float) -> float:
        statistic = np.abs(drawn[:, 0] - value * drawn[:, 1])
        observed = abs(estimate - value)
        more = int((statistic >= observed - SAME * (1 + observed)).sum())
        return more / len(drawn) if enumerated else (1 + more) / (1 + len(drawn))

    mirrored = len(np.unique(given)) == 2 and all(
        len(set(np.unique(given[blocks == one], return_counts=True)[1])) == 1 for one in np.unique(blocks)
    )
    smallest = (1 + mirrored) / len(drawn) if enumerated else 1 / (1 + len(drawn))
    se = float(drawn[:, 0].std())
    low, high = interval(p, float(estimate), se, level) if smallest < 1 - level and se > 0 else (None, None)
    return {"low": low, "high": high, "p": p(0.0), "draws": len(drawn), "enumerated": enumerated,
            "smallest_p": min(1.0, smallest)}  # fmt: skip


def _coefficients(
    levels: np.ndarray, assigned: Sequence[int | None], products: np.ndarray, moments: np.ndarray, index: int
) -> np.ndarray:
    """Return the term's coefficients for each assignment, of the outcome and of the tested column; NaN if undefined."""
    here = np.stack([np.ones(levels.shape) if code is None else (levels == code) for code in assigned], axis=2)
    squares = np.einsum("duc,due,uce->dce", here, here, products, optimize=True)
    sums = np.einsum("duc,ucy->dcy", here, moments, optimize=True)
    defined = np.linalg.cond(squares) < 1 / SAME
    result = np.full((len(levels), 2), np.nan)
    result[defined] = np.linalg.solve(squares[defined], sums[defined])[:, index]
    return result


def _assignments(given: np.ndarray, blocks: np.ndarray, draws: int, seed: int) -> tuple[np.ndarray, bool]:
    """Return assignments of the units' levels within blocks, and whether these are all that exist."""
    members = [np.flatnonzero(blocks == one) for one in np.unique(blocks)]
    number = prod(_arrangements_of(given[rows]) for rows in members)
    if number <= MOST_ENUMERATED:
        levels = np.empty((number, len(given)), dtype=given.dtype)
        for row, parts in enumerate(product(*(list(_arrangements(sorted(given[rows].tolist()))) for rows in members))):
            for rows, part in zip(members, parts, strict=True):
                levels[row, rows] = part
        return levels, True
    rng, levels = np.random.default_rng(seed), np.tile(given, (draws, 1))
    for rows in members:
        levels[:, rows] = rng.permuted(levels[:, rows], axis=1)
    return levels, False


def _arrangements_of(levels: np.ndarray) -> int:
    remaining, number = len(levels), 1
    for count in np.unique(levels, return_counts=True)[1].tolist():
        number, remaining = number * comb(remaining, count), remaining - count
    return number


def _arrangements(levels: list[Any]) -> Iterator[tuple[Any, ...]]:
    """Yield the distinct orders of sorted values."""
    if not levels:
        yield ()
    for position, value in enumerate(levels):
        if position == 0 or value != levels[position - 1]:
            for rest in _arrangements([*levels[:position], *levels[position + 1 :]]):
                yield (value, *rest)
