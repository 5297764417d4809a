"""Effects on an outcome, of factors or within strata, with the interval and p-value that the dependence allows.

The jackknife (CR3 around the estimate) and its degrees of freedom are our own: statsmodels centres the jackknife at
its own mean and has no degrees of freedom for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

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
    limited,
)
from analysis.toolbox.numbers import Result, Rows, column, finite, numbers
from analysis.toolbox.regression import Coded, Design
from analysis.toolbox.resampled import randomisation, wild_bootstrap

OF_TERM = ("estimate", "se", "low", "high", "p", "df", "components", "method", "note")
"""What the tables show of each term."""
SINGULAR = 1e-8
"""Eigenvalues below this are zero: without that unit, some term is not identified."""
MANY_UNITS, MANY_ON_A_SIDE = 200, 50
"""Above so many units, with so many on either side, the degrees of freedom are those of the units."""
FEW_UNITS = 20
"""With fewer units, the wild cluster bootstrap stands beside the jackknife."""
FEWEST_PEOPLE = 20
"""Fewest people for leaving out one person at a time."""
CHUNK = 2_000_000
"""Numbers held at once while units of one size are left out together."""
MOST_NUMBERS = 10_000_000
"""Size of the matrix from which exact degrees of freedom within strata are not worth their memory."""
BY_PERSON = "one unit holds half of the observations, so one person at a time was left out: people who met may be alike"
SMALLEST_P = "by randomisation, p cannot be below {:.3g}"


def effects(
    rows: Rows,
    outcome: str,
    factors: Mapping[str, Any],
    people: Sequence[str] = (),
    group: str | None = None,
    replay: str | None = None,
    cell: Sequence[str] = (),
    assignment: Mapping[str, str] | None = None,
    bounds: tuple[float | None, float | None] | None = None,
    draws: int = 9999,
    seed: int = 1,
    *,
    interactions: Sequence[tuple[str, str]] | None = None,
    level: float = 0.95,
) -> Result:
    """Return the effects of factors on an outcome (OLS on dummies), with intervals for dependent rows.

    Two rows are of one unit if a person took part in both, directly or through a chain of others, if they are of one
    group, or if they repeat one record of agents. The method of a term is the first that applies:

    - "exact": every cell holds one record of agents, so that differences have no interval;
    - "CR3": one unit at a time is left out, t with Bell and McCaffrey's degrees of freedom; from five units, three in
      each of the cells compared, and if no unit holds half of the rows;
    - "randomisation": the assigned units are assigned again within blocks, if `assignment` names them;
    - "person": one person at a time is left out, if one unit holds half of the rows, the comparison is within it,
      there are 20 people, and levels were not set by group;
    - "none": an estimate and a note.

    Args:
        factors: reference level of each factor, as in `ols`.
        people: columns with the persons of a row; None for an agent's seat.
        group: a column; rows with the same value depend on each other.
        replay: a column that is equal for identical records of agents; None if a person played.
        cell: columns that, with the factors, tell apart the configurations in which records are compared.
        assignment: columns with each row's assigned "unit" and, if need be, the "block" within which units were
            assigned, and the "probability" of the unit's level; without blocks, units with equal probabilities are one.
        bounds: the smallest and largest possible value of the outcome, None if there is none.
        draws, seed: of randomisation inference and the wild bootstrap.
        interactions: pairs of factors; by default, all of which every combination of levels occurs. Their terms come
            from a second regression that has them all; those of factors are averages over the other factors.

    Returns:
        unit ("component" or "replay"), clusters (number of units), method (that of the first term after the intercept
        that has one), terms as in `ols` (those of interactions "a=x:b=y"), each also with df, components (units in the
        smallest of the cells compared), method, note, and smallest_p by randomisation; robustness: the terms by the
        wild cluster bootstrap if there are fewer than 20 units; n, r2, dropped, warnings, notes.
    """
    prepared = Effects(rows, factors, people, group, replay, cell, assignment, draws, seed, interactions=interactions)
    return prepared.on(numbers(rows, outcome), bounds=bounds, level=level)


class Effects:
    """Some rows and factors, prepared for several outcomes; see `effects`.

    Args:
        covariates: columns of numbers, each with one slope.
        set_by: the column with the groups by which levels may have been set; by default, `group`.
        robustness: whether results have it.
    """

    def __init__(
        self,
        rows: Rows,
        factors: Mapping[str, Any],
        people: Sequence[str] = (),
        group: str | None = None,
        replay: str | None = None,
        cell: Sequence[str] = (),
        assignment: Mapping[str, str] | None = None,
        draws: int = 9999,
        seed: int = 1,
        *,
        interactions: Sequence[tuple[str, str]] | None = None,
        covariates: Sequence[str] = (),
        set_by: str | None = None,
        robustness: bool = True,
    ) -> None:
        import pandas as pd

        self.coded = Coded(rows, factors, covariates)
        self.dependence = Dependence(rows, people, group, replay, [*factors, *cell])
        self.interactions, self.robustness = interactions, robustness
        self.draws, self.seed = draws, seed
        self.people = [column(rows, name) for name in people]
        groups = set_by or group
        self.group = None if groups is None else pd.factorize(column(rows, groups))[0]
        self.assigned = {key: column(rows, name) for key, name in (assignment or {}).items() if name}
        self._prepared: dict[bytes, list[_Jackknife]] = {}

    def on(
        self, y: np.ndarray, *, bounds: tuple[float | None, float | None] | None = None, level: float = 0.95
    ) -> Result:
        """Return the effects on an outcome, given as an array with NaN for missing values."""
        complete = np.isfinite(y) & self.coded.known
        result: Result = {"unit": self.dependence.kind, "clusters": 0, "method": "none", "terms": [], "robustness": [],
                          "n": int(complete.sum()), "r2": None, "dropped": [], "warnings": [], "notes": []}  # fmt: skip
        if not complete.any():
            return result | {"notes": [NO_OBSERVATIONS]}
        y = y[complete]
        for jackknife in self._jackknives(complete):
            first, estimates = not result["terms"], jackknife.fit(y)
            if first:
                result |= {"clusters": jackknife.number, "r2": estimates[1], "warnings": [*jackknife.design.warnings]}
            result["dropped"] = list(dict.fromkeys([*result["dropped"], *jackknife.design.dropped]))
            for index, parts in enumerate(jackknife.design.parts):
                if first or len(parts) > 1:
                    self._add_term(result, jackknife, complete, y, index, estimates, bounds, level)
        methods = [term["method"] for term in [*result["terms"][1:], *result["terms"][:1]]]
        result["method"] = next((method for method in methods if method != "none"), "none")
        result["notes"] = list(dict.fromkeys(term["note"] for term in result["terms"] if term["note"]))
        return result

    def _jackknives(self, complete: np.ndarray) -> list[_Jackknife]:
        """Return the regression on the factors and, if there are any, that with their interactions."""
        key = complete.tobytes()
        if key not in self._prepared:
            pairs = self.coded.crossed(complete) if self.interactions is None else self.interactions
            designs = [self.coded.design(complete, some) for some in ((), pairs) if some == () or pairs]
            self._prepared = {key: [_Jackknife(design, self.dependence.unit[complete]) for design in designs]}
        return self._prepared[key]

    def _add_term(
        self,
        result: Result,
        jackknife: _Jackknife,
        complete: np.ndarray,
        y: np.ndarray,
        index: int,
        estimates: tuple[np.ndarray, float | None, np.ndarray],
        bounds: tuple[float | None, float | None] | None,
        level: float,
    ) -> None:
        beta, _r2, errors = estimates
        name = jackknife.design.names[index]
        is_level = not jackknife.design.parts[index]
        limits = _limits(bounds, cells=len(jackknife.design.sides[index]), is_level=is_level)
        term: Result = {"term": name, "estimate": float(beta[index]), **dict.fromkeys(("se", "low", "high", "p", "df")),
                "components": jackknife.on_smaller_side[index], "method": "none"}  # fmt: skip
        exact = bool(self.dependence.exact[complete].all())
        note = ALWAYS_THE_SAME if exact else jackknife.why_not(index)
        note = note or ("" if errors[index] > 0 else NO_VARIATION)
        if exact:
            term["method"] = "exact"
        elif not note:
            term |= tested(term["estimate"], float(errors[index]), jackknife.df(index), level, limits,
                           is_level=is_level)  # fmt: skip
            if jackknife.number < FEW_UNITS and self.robustness:
                row = wild_bootstrap(jackknife.design.x, y, jackknife.codes, index, draws=self.draws, seed=self.seed,
                                     level=level)  # fmt: skip
                result["robustness"].append({"term": name, "method": "wild bootstrap"} | cut(row, limits))
        elif note != NO_VARIATION and not is_level:
            found = self._by_randomisation(jackknife.design, complete, y, index, level)
            found = found or self._by_person(jackknife, complete, y, index, limits, level)
            if found:
                term, note = term | cut(found, limits), ""
                remark = BY_PERSON if found["method"] == "person" else SMALLEST_P.format(found["smallest_p"])
                result["warnings"] = list(dict.fromkeys([*result["warnings"], remark]))
        result["terms"].append({**term, "note": note})

    def randomised(self, y: np.ndarray, term: str, *, level: float = 0.95) -> Result | None:
        """Return randomisation inference for a term whatever its other interval is; None without an assignment.

        Args:
            y: the outcome, NaN where it is missing.
        """
        complete = np.isfinite(y) & self.coded.known
        for jackknife in self._jackknives(complete) if complete.any() else ():
            if term in (names := jackknife.design.names):
                return self._by_randomisation(jackknife.design, complete, y[complete], names.index(term), level)
        return None

    def _by_randomisation(
        self, design: Design, complete: np.ndarray, y: np.ndarray, index: int, level: float
    ) -> Result | None:
        """Return a term's test by randomisation; None if its factor was not assigned to units, or has no other level.

        Of an interaction, the factor that was assigned is assigned again.
        """
        import pandas as pd

        if "unit" not in self.assigned:
            return None
        unit, labels = pd.factorize(self.assigned["unit"][complete])
        for factor, code in design.parts[index]:
            if code < 0:
                continue
            codes = self.coded.coded[factor][0][complete]
            by_unit = pd.Series(codes).groupby(unit).nunique()
            if (unit < 0).any() or (by_unit > 1).any() or len(labels) < 2:
                continue
            assigned = [dict(parts).get(factor) for parts in design.parts]
            columns = design.x.copy()
            for position, parts in enumerate(design.parts):
                if factor in (own := dict(parts)):
                    others = [self.coded.coded[other][0][complete] == code for other, code in own.items()
                              if other != factor]  # fmt: skip
                    columns[:, position] = np.prod(others, axis=0)
            found = randomisation(columns, assigned, y, codes, unit, self._blocks(complete, codes), index,
                                  draws=self.draws, seed=self.seed, level=level)  # fmt: skip
            return found | {"method": "randomisation"}
        return None

    def _blocks(self, complete: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return the block of each row: the recorded one or, of two levels, the probability of the first."""
        import pandas as pd

        blocks: np.ndarray = np.zeros(len(codes), dtype=int)
        if "block" in self.assigned:
            blocks = pd.factorize(self.assigned["block"][complete])[0] + 1
        elif "probability" in self.assigned and len(levels := np.unique(codes)) == 2:
            own = [np.nan if (p := finite(value)) is None else p for value in self.assigned["probability"][complete]]
            first = np.where(codes == levels[0], own, 1 - np.array(own))
            blocks = pd.factorize(np.round(first, 9), use_na_sentinel=False)[0]
        return blocks

    def _by_person(
        self,
        jackknife: _Jackknife,
        complete: np.ndarray,
        y: np.ndarray,
        index: int,
        limits: tuple[float, float],
        level: float,
    ) -> Result | None:
        """Return a term's test by leaving out one person at a time; None where that is not justified."""
        import pandas as pd

        design, codes = jackknife.design, jackknife.codes
        largest = codes == np.argmax(jackknife.sizes)
        if not self.people or 2 * largest.sum() < len(y) or not all((s & largest).any() for s in design.sides[index]):
            return None
        if self.group is not None and _set_by(self.group[complete], design.sides[index]):
            return None
        numbers, labels = pd.factorize(np.concatenate([names[complete] for names in self.people]))
        if len(labels) < FEWEST_PEOPLE:
            return None
        persons = numbers.reshape(len(self.people), -1)
        alone = (persons < 0).all(axis=0)
        left_out = [(persons == person).any(axis=0) for person in range(len(labels))]
        left_out += [alone & (codes == unit) for unit in np.unique(codes[alone])]
        x = design.x
        squares, moments = x.T @ x, x.T @ y
        changes = []
        for rows in left_out:
            without = squares - x[rows].T @ x[rows]
            if np.linalg.cond(without) > 1 / SINGULAR:
                return None
            changes.append(np.linalg.solve(without, moments - x[rows].T @ y[rows])[index])
        estimate = float(np.linalg.solve(squares, moments)[index])
        number = len(left_out)
        se = float(np.sqrt((number - 1) / number * ((np.array(changes) - estimate) ** 2).sum()))
        if se <= 1e-12 * float(y.std()):
            return None
        return tested(estimate, se, len(labels) - 2.0, level, limits) | {"method": "person"}


def _set_by(group: np.ndarray, sides: Sequence[np.ndarray]) -> bool:
    """Return whether groups of several rows exist, and none of them is on two sides of the comparison."""
    known = group >= 0
    several = np.bincount(group[known], minlength=1) > 1
    sides_of = sum(np.bincount(group[side & known], minlength=len(several)) > 0 for side in sides)
    return bool(several.any() and (np.asarray(sides_of)[several] <= 1).all())


def _limits(bounds: tuple[float | None, float | None] | None, *, cells: int, is_level: bool) -> tuple[float, float]:
    """Return the smallest and largest possible value of a term, which compares one, two or four cells."""
    low, high = (finite(end) for end in bounds or (None, None))
    if is_level:
        return float("-inf") if low is None else low, float("inf") if high is None else high
    width = float("inf") if low is None or high is None or high <= low else (high - low) * cells / 2
    return -width, width


def cut(result: Result, limits: tuple[float, float]) -> Result:
    """Return a result with its interval cut to the limits."""
    ends = {key: None if result[key] is None else min(max(result[key], limits[0]), limits[1])
            for key in ("low", "high")}  # fmt: skip
    return {**result, **ends}


def tested(
    estimate: float,
    se: float,
    df: float,
    level: float,
    limits: tuple[float, float] = (float("-inf"), float("inf")),
    *,
    is_level: bool = False,
) -> Result:
    """Return a term's interval within its limits and its two-sided t test.

    Args:
        is_level: whether it is a level of the outcome, whose interval is found on the logit scale of its range.
    """
    from scipy.stats import t

    half = float(t.ppf((1 + level) / 2, df)) * se
    low, high = limited(estimate, half, *limits) if is_level else (estimate - half, estimate + half)
    found = {"se": se, "low": float(low), "high": float(high), "p": float(2 * t.sf(abs(estimate) / se, df))}
    return cut({**found, "df": df, "method": "CR3"}, limits)


class _Jackknife:
    """A regression on the rows of `design`, re-estimated without each unit.

    Attributes:
        number: number of units.
        problem: why no term has an interval; "" if some may have one.
    """

    def __init__(self, design: Design, unit: np.ndarray) -> None:
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
        """The number of units in the smallest of the cells that each term compares."""
        return [
            min(int(np.count_nonzero(np.bincount(self.codes[side], minlength=1))) for side in sides)
            for sides in self.design.sides
        ]

    def why_not(self, index: int) -> str:
        """Return why leaving out units gives a term no interval; "" if it does."""
        if self.problem:
            return self.problem
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
        own = np.add.reduceat(weights**2, self.starts)
        through = np.add.reduceat(self.q * weights[:, None], self.starts)
        fitted = (through**2).sum(axis=1)
        squares = (own**2).sum() - 2 * (own * fitted).sum() + ((through.T @ through) ** 2).sum()
        return float(min((own.sum() - fitted.sum()) ** 2 / squares, self.number - 1))


# ---- within strata -------------------------------------------------------------------------------------------


def within(
    x: np.ndarray,
    y: np.ndarray,
    strata: np.ndarray,
    units: np.ndarray,
    *,
    level: float,
    exact: bool = False,
    bounds: tuple[float | None, float | None] | None = None,
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
    limits = _limits(bounds, cells=2, is_level=False)
    return result | tested(result["estimate"], se, df, level, limits) | {"note": ""}


def _means(values: np.ndarray, stratum: np.ndarray) -> np.ndarray:
    return (np.bincount(stratum, values) / np.bincount(stratum))[stratum]


def _without_each_unit(
    x: np.ndarray, y: np.ndarray, stratum: np.ndarray, unit: np.ndarray, weight: float, moment: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return Σx² and Σxy without each unit's rows, with the means of the remaining rows taken out of x and y.

    Args:
        x, y: without their means in each stratum.
    """
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
    number = len(weights)
    left_out = np.empty((number, len(x)))
    for index in range(number):
        remains = unit != index
        sums = np.bincount(stratum, x * remains) / np.maximum(np.bincount(stratum, remains), 1)
        left_out[index] = (x - sums[stratum]) * remains / weights[index]
    products = left_out @ left_out.T - 1 / weight
    return float(min(np.trace(products) ** 2 / (products**2).sum(), number - 1))
