"""Effects on an outcome, of factors or within strata, with the interval and p-value that the dependence allows.

The jackknife (CR3 around the estimate) and its degrees of freedom are our own: statsmodels centres the jackknife at
its own mean and has no degrees of freedom for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analysis.toolbox.dependence import (
    ALWAYS_THE_SAME,
    FEWEST_ON_A_SIDE,
    FEWEST_UNITS,
    NO_OBSERVATIONS,
    NO_VARIATION,
    ONE_UNIT_DOMINATES,
    TOO_FEW,
    TOO_FEW_HERE,
    Dependence,
)
from analysis.toolbox.numbers import Result, Rows, numbers
from analysis.toolbox.regression import Coded, Design

if TYPE_CHECKING:
    import numpy as np

SINGULAR = 1e-8
"""Eigenvalues below this are zero: without that unit, some term is not identified."""
MANY_UNITS, MANY_ON_A_SIDE = 200, 50
"""Above so many units, with so many on either side, the degrees of freedom are those of the units."""
CHUNK = 2_000_000
"""Numbers held at once while units of one size are left out together."""
MOST_NUMBERS = 10_000_000
"""Size of the matrix from which exact degrees of freedom within strata are not worth their memory."""


def effects(
    rows: Rows,
    outcome: str,
    factors: Mapping[str, Any],
    people: Sequence[str] = (),
    group: str | None = None,
    replay: str | None = None,
    cell: Sequence[str] = (),
    *,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> Result:
    """Return the effects of factors on an outcome (OLS on dummies), with intervals for dependent rows.

    Intervals come from leaving out one unit at a time (CR3) and t with Bell and McCaffrey's degrees of freedom. There
    is none with fewer than five units or three on either side of a comparison, if one unit holds half of the rows, or
    if every cell holds one record of agents, because then differences are exact.

    Args:
        factors: reference level of each factor, as in `ols`.
        people: columns with the persons of a row; None for an agent's seat.
        group: a column; rows with the same value depend on each other.
        replay: a column that is equal for identical records of agents; None if a person played.
        cell: columns that, with the factors, tell apart the configurations in which records are compared.
        bounds: the smallest and largest possible value of the outcome.

    Returns:
        unit ("component" or "replay"), clusters (number of units), method ("CR3", "exact" or "none"), terms as in
        `ols`, each also with df, components (units on the smaller side), method and note; n, r2, dropped, warnings,
        notes.
    """
    return Effects(rows, factors, people, group, replay, cell).on(numbers(rows, outcome), bounds=bounds, level=level)


class Effects:
    """Some rows and factors, prepared for several outcomes; see `effects`."""

    def __init__(
        self,
        rows: Rows,
        factors: Mapping[str, Any],
        people: Sequence[str] = (),
        group: str | None = None,
        replay: str | None = None,
        cell: Sequence[str] = (),
    ) -> None:
        self.coded = Coded(rows, factors)
        self.dependence = Dependence(rows, people, group, replay, [*factors, *cell])
        self._prepared: dict[bytes, _Jackknife] = {}

    def on(self, y: np.ndarray, *, bounds: tuple[float, float] | None = None, level: float = 0.95) -> Result:
        """Return the effects on an outcome, given as an array with NaN for missing values."""
        import numpy as np

        complete = np.isfinite(y) & self.coded.known
        result: Result = {"unit": self.dependence.kind, "clusters": 0, "method": "none", "terms": [],
                          "n": int(complete.sum()), "r2": None, "dropped": [], "warnings": [], "notes": []}  # fmt: skip
        if not complete.any():
            return result | {"notes": [NO_OBSERVATIONS]}
        key = complete.tobytes()
        if key not in self._prepared:
            self._prepared = {key: _Jackknife(self.coded.design(complete), self.dependence.unit[complete])}
        jackknife = self._prepared[key]
        reason = jackknife.problem
        if self.dependence.exact[complete].all():
            reason, result["method"] = ALWAYS_THE_SAME, "exact"
        beta, r2, errors = jackknife.fit(y[complete])
        result |= {"clusters": jackknife.number, "r2": r2, "dropped": jackknife.design.dropped,
                   "warnings": jackknife.design.warnings}  # fmt: skip
        for index, term in enumerate(jackknife.design.names):
            note = reason or jackknife.why_not(index) or ("" if errors[index] > 0 else NO_VARIATION)
            result["terms"].append(
                {"term": term, "estimate": float(beta[index]), "se": None, "low": None, "high": None, "p": None,
                 "df": None, "components": jackknife.on_smaller_side[index], "method": result["method"], "note": note}
                | ({} if note else tested(float(beta[index]), float(errors[index]), jackknife.df(index), level,
                                           _limits(bounds, is_level=term == "Intercept")))
            )  # fmt: skip
        if any(term["method"] == "CR3" for term in result["terms"]):
            result["method"] = "CR3"
        result["notes"] = list(dict.fromkeys(term["note"] for term in result["terms"] if term["note"]))
        return result


def _limits(bounds: tuple[float, float] | None, *, is_level: bool) -> tuple[float, float]:
    """Return the smallest and largest possible value of a term."""
    if bounds is None:
        return float("-inf"), float("inf")
    return bounds if is_level else (bounds[0] - bounds[1], bounds[1] - bounds[0])


def tested(
    estimate: float, se: float, df: float, level: float, limits: tuple[float, float] = (float("-inf"), float("inf"))
) -> Result:
    """Return a term's interval within its limits and its two-sided t test."""
    from scipy.stats import t

    half = float(t.ppf((1 + level) / 2, df)) * se
    low, high = max(limits[0], estimate - half), min(limits[1], estimate + half)
    p = float(2 * t.sf(abs(estimate) / se, df))
    return {"se": se, "low": low, "high": high, "p": p, "df": df, "method": "CR3"}


class _Jackknife:
    """A regression on the rows of `design`, re-estimated without each unit.

    Attributes:
        number: number of units.
        problem: why no term has an interval; "" if some may have one.
    """

    def __init__(self, design: Design, unit: np.ndarray) -> None:
        import numpy as np
        from scipy.linalg import solve_triangular

        self.design = design
        labels, codes, sizes = np.unique(unit, return_inverse=True, return_counts=True)
        self.number, self.sizes, self.codes = len(labels), sizes, codes
        self.order = np.argsort(codes, kind="stable")
        self.starts = np.cumsum(sizes) - sizes
        x = design.x[self.order]
        self.q, root = np.linalg.qr(x)
        self.inverse_root = solve_triangular(root, np.eye(len(root)))
        self.problem = TOO_FEW if self.number < FEWEST_UNITS else ""
        if not self.problem and 2 * sizes.max() >= len(x):
            self.problem = ONE_UNIT_DOMINATES

    @cached_property
    def _left_out(self) -> tuple[np.ndarray, np.ndarray]:
        """The weights of the residuals in the change of each term without their unit, and which terms are lost then.

        The change is β - β₍g₎ = (X'X)⁻¹ X_g' (I - H_gg)⁻¹ e_g. If the inverse does not exist, the pseudo-inverse gives
        the same change for every term that is identified without the unit.
        """
        import numpy as np

        weights = np.zeros_like(self.q)
        k = self.q.shape[1]
        lost = np.zeros(k, dtype=bool)
        for size in np.unique(self.sizes):
            starts = self.starts[self.sizes == size]
            step = max(1, CHUNK // (max(size, k) * k))
            for first in range(0, len(starts), step):
                rows = starts[first : first + step, None] + np.arange(size)
                q = self.q[rows]
                across = np.swapaxes(q, 1, 2)
                by_rows = size <= k
                remaining = (np.eye(size) - q @ across) if by_rows else (np.eye(k) - across @ q)
                values, vectors = np.linalg.eigh(remaining) if size > 1 else (remaining[:, 0], np.ones((len(q), 1, 1)))
                singular = values < SINGULAR
                inverse = (
                    vectors * np.where(singular, 0, 1 / np.where(singular, 1, values))[:, None, :]
                ) @ np.swapaxes(vectors, 1, 2)
                weights[rows] = inverse @ q if by_rows else q @ inverse
                if singular.any():
                    directions = (across @ vectors) if by_rows else vectors
                    change = np.abs(np.einsum("ij,cjs->cis", self.inverse_root, directions)) * singular[:, None, :]
                    lost |= (change > 1e-6 * change.max(axis=1, keepdims=True).clip(1e-300)).any(axis=(0, 2))
        return weights @ self.inverse_root.T, lost

    def fit(self, y: np.ndarray) -> tuple[np.ndarray, float | None, np.ndarray]:
        """Return the terms, R², and the standard errors (0 where they are undefined)."""
        import numpy as np

        y = y[self.order]
        projected = self.q.T @ y
        residuals = y - self.q @ projected
        total = float(((y - y.mean()) ** 2).sum())
        r2 = 1 - float(residuals @ residuals) / total if total > 0 else None
        errors = np.zeros(len(projected))
        if not self.problem and total > 0:
            changes = np.add.reduceat(self._left_out[0] * residuals[:, None], self.starts)
            errors = np.sqrt((self.number - 1) / self.number * (changes**2).sum(axis=0))
            errors[errors < 1e-12 * np.sqrt(total)] = 0
        return self.inverse_root @ projected, r2, errors

    @cached_property
    def on_smaller_side(self) -> list[int]:
        """The number of units with each term's level, or with its reference, whichever is smaller."""
        import numpy as np

        return [
            min(int(np.count_nonzero(np.bincount(self.codes[side], minlength=1))) for side in sides)
            for sides in self.design.sides
        ]

    def why_not(self, index: int) -> str:
        """Return why a term has no interval although others may; "" if it has one."""
        fewest = self.on_smaller_side[index]
        if fewest == 1:
            return "a level occurs in one independent unit only"
        if fewest < FEWEST_ON_A_SIDE:
            return f"a level occurs in {fewest} independent units only"
        return "everything depends on one independent unit" if self._left_out[1][index] else ""

    def df(self, index: int) -> float:
        """Return the degrees of freedom of a term: Bell and McCaffrey's, at most the number of units less one."""
        if self.number > MANY_UNITS and self.on_smaller_side[index] >= MANY_ON_A_SIDE:
            return self.number - 1.0
        if index not in self._df:
            self._df[index] = self._bell_mccaffrey(self._left_out[0][:, index])
        return self._df[index]

    @cached_property
    def _df(self) -> dict[int, float]:
        return {}

    def _bell_mccaffrey(self, weights: np.ndarray) -> float:
        """Return (tr P)² / tr P² for P = D - W W', the units' products of a term's changes under equal variances."""
        import numpy as np

        own = np.add.reduceat(weights**2, self.starts)
        through = np.add.reduceat(self.q * weights[:, None], self.starts)
        fitted = (through**2).sum(axis=1)
        squares = (own**2).sum() - 2 * (own * fitted).sum() + ((through.T @ through) ** 2).sum()
        return float(min((own.sum() - fitted.sum()) ** 2 / squares, self.number - 1))


# ---- within strata -------------------------------------------------------------------------------------------


def within(
    x: np.ndarray, y: np.ndarray, strata: np.ndarray, units: np.ndarray, *, level: float, exact: bool = False
) -> dict[str, Any]:
    """Return the effect of x on y by OLS with a dummy per stratum; its interval as in `effects`.

    The strata's dummies are not formed: their means are taken out, again without each unit, so there may be many.

    Args:
        strata, units: labels of each row.
        exact: whether agents always play the same in every cell.

    Returns:
        estimate (None if x does not vary within any stratum), se, low, high, p, df, n, clusters (units), components
        (units on the smaller side, if x has two values), method and note.
    """
    import numpy as np

    stratum, unit = (np.unique(labels, return_inverse=True)[1] for labels in (strata, units))
    x, y = (values - _means(values, stratum) for values in (np.asarray(x, dtype=float), np.asarray(y, dtype=float)))
    n, number = len(x), int(unit.max(initial=-1)) + 1
    weight, moment = float(x @ x), float(x @ y)
    result: dict[str, Any] = {**dict.fromkeys(("estimate", "se", "low", "high", "p", "df")), "n": n,
                              "clusters": number, "components": number, "method": "none"}  # fmt: skip
    if weight <= 1e-12 * n:
        return result | {"note": "there is nothing to compare within strata"}
    result["estimate"] = moment / weight
    sides = [np.unique(unit[side]).size for side in (x > 0, x < 0)]
    result["components"] = fewest = min(sides)
    weights, moments = _without_each_unit(x, y, stratum, unit, weight, moment)
    note = TOO_FEW if number < FEWEST_UNITS else TOO_FEW_HERE if fewest < FEWEST_ON_A_SIDE else ""
    if not note and (2 * np.bincount(unit).max() >= n or (weights <= 1e-9 * weight).any()):
        note = ONE_UNIT_DOMINATES
    if exact:
        return result | {"method": "exact", "note": ALWAYS_THE_SAME}
    if note:
        return result | {"note": note}
    changes = moments / weights - result["estimate"]
    se = float(np.sqrt((number - 1) / number * (changes**2).sum()))
    if se <= 1e-12 * float(np.sqrt(y @ y / weight)):
        return result | {"note": NO_VARIATION}
    if number <= MANY_UNITS and n * number <= MOST_NUMBERS:
        df = _bell_mccaffrey(x, stratum, unit, weight, weights)
    else:
        df = (number if fewest >= MANY_ON_A_SIDE else fewest) - 1.0
    return result | tested(result["estimate"], se, df, level) | {"note": ""}


def _means(values: np.ndarray, stratum: np.ndarray) -> np.ndarray:
    import numpy as np

    return (np.bincount(stratum, values) / np.bincount(stratum))[stratum]


def _without_each_unit(
    x: np.ndarray, y: np.ndarray, stratum: np.ndarray, unit: np.ndarray, weight: float, moment: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return Σx² and Σxy without each unit's rows, with the means of the remaining rows taken out of x and y.

    Args:
        x, y: without their means in each stratum.
    """
    import numpy as np

    number = int(unit.max()) + 1
    pairs, pair = np.unique(stratum.astype(np.int64) * number + unit, return_inverse=True)
    of_stratum, of_unit = pairs // number, pairs % number
    own_x, own_y, own_n = np.bincount(pair, x), np.bincount(pair, y), np.bincount(pair)
    remaining = np.bincount(stratum)[of_stratum] - own_n
    # Sums over a stratum are zero, so those over its remaining rows are the unit's own with the other sign.
    factor = np.where(remaining > 0, 1 / np.maximum(remaining, 1), 0)
    return (
        weight - np.bincount(of_unit, np.bincount(pair, x * x) + own_x * own_x * factor),
        moment - np.bincount(of_unit, np.bincount(pair, x * y) + own_x * own_y * factor),
    )


def _bell_mccaffrey(x: np.ndarray, stratum: np.ndarray, unit: np.ndarray, weight: float, weights: np.ndarray) -> float:
    """Return the degrees of freedom of the jackknife; see `effects`."""
    import numpy as np

    number = len(weights)
    left_out = np.empty((number, len(x)))
    for index in range(number):
        remains = unit != index
        sums = np.bincount(stratum, x * remains) / np.maximum(np.bincount(stratum, remains), 1)
        left_out[index] = (x - sums[stratum]) * remains / weights[index]
    products = left_out @ left_out.T - 1 / weight
    return float(min(np.trace(products) ** 2 / (products**2).sum(), number - 1))
