"""Effects of factors on an outcome, with the interval and p-value that their dependence allows."""

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
    Dependence,
    Rows,
)
from analysis.toolbox.numbers import Result
from analysis.toolbox.regression import Coded, Design, numbers

if TYPE_CHECKING:
    import numpy as np

SINGULAR = 1e-8
"""Eigenvalues below this are zero: without that unit, some term is not identified."""
MANY_UNITS, MANY_ON_A_SIDE = 200, 50
"""Above so many units, with so many on either side, the degrees of freedom are those of the units."""
CHUNK = 2_000_000
"""Numbers held at once while units of one size are left out together."""


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
                 "df": None, "components": jackknife.on_smaller_side(index), "method": result["method"], "note": note}
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

    def on_smaller_side(self, index: int) -> int:
        """Return the number of units with a term's level, or with its reference, whichever is smaller."""
        return self._components[index]

    @cached_property
    def _components(self) -> list[int]:
        import numpy as np

        return [
            min(int(np.count_nonzero(np.bincount(self.codes[side], minlength=1))) for side in sides)
            for sides in self.design.sides
        ]

    def why_not(self, index: int) -> str:
        """Return why a term has no interval although others may; "" if it has one."""
        fewest = self._components[index]
        if fewest == 1:
            return "a level occurs in one independent unit only"
        if fewest < FEWEST_ON_A_SIDE:
            return f"a level occurs in {fewest} independent units only"
        return "everything depends on one independent unit" if self._left_out[1][index] else ""

    def df(self, index: int) -> float:
        """Return the degrees of freedom of a term: Bell and McCaffrey's, at most the number of units less one."""
        if self.number > MANY_UNITS and self._components[index] >= MANY_ON_A_SIDE:
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
