"""OLS with factors, and with classical, heteroscedasticity-consistent or cluster-robust standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Literal

import numpy as np

from analysis.toolbox.numbers import Result, Rows, column, numbers, undefined

Covariance = Literal["classical", "HC1"]
COLLINEAR_BELOW = 1e-9
"""A column is dropped if the norm of its part not explained by earlier columns, relative to its own, is below this."""
SURELY_INDEPENDENT = 1e-4
"""From this size, such a part cannot be a rounding error of the columns' correlations."""
NOTHING = 1e-7
"""Standard errors below this share of the outcome's standard deviation are rounding errors, without a p-value."""


def ols(
    rows: Rows,
    outcome: str,
    factors: Mapping[str, Any],
    clusters: str | None = None,
    covariance: Covariance = "classical",
    *,
    level: float = 0.95,
) -> Result:
    """Return the OLS regression of an outcome on factors as dummies, with an intercept.

    Args:
        rows: dictionaries, or a pandas frame.
        factors: reference level of each factor; if it does not occur, the most frequent level replaces it.
        clusters: column that identifies each row's cluster: CR1 errors, G-1 degrees of freedom.

    Returns:
        terms: list of {term: "Intercept" or "name=level", estimate, se, low, high, p}; df, r2, n, dropped
        (collinear columns), warnings.
    """
    import pandas as pd

    y = numbers(rows, outcome)
    coded = Coded(rows, factors)
    complete = np.isfinite(y) & coded.known
    groups = None if clusters is None else pd.factorize(column(rows, clusters))[0]
    if groups is not None:
        complete &= groups >= 0
    if not complete.any():
        return undefined("df r2", "no observations", terms=[], n=0, dropped=[], warnings=[])
    return _fitted(coded.design(complete), y[complete], None if groups is None else groups[complete], covariance, level)


@dataclass(frozen=True)
class Design:
    """A regression's independent columns.

    Attributes:
        x: an intercept and dummies, one row per observation.
        names: of the columns: "Intercept" or "name=level".
        dropped: names of collinear columns.
        sides: for each column, which observations are in each of the cells compared: those with the level and those
            with the reference level, or the four cells of an interaction.
        parts: for each column, the levels of factors that it stands for, as (factor, level's code); of a number,
            (name, -1).
    """

    x: np.ndarray
    names: list[str]
    dropped: list[str]
    warnings: list[str]
    sides: list[tuple[np.ndarray, ...]]
    parts: list[tuple[tuple[str, int], ...]]


class Coded:
    """Factors of some rows, coded as numbers.

    Args:
        factors: reference level of each factor; if it does not occur, the most frequent level replaces it.
        covariates: columns of numbers that stand in the regression as they are, after all factors.

    Attributes:
        known: whether no factor or number of the row is missing.
    """

    def __init__(self, rows: Rows, factors: Mapping[str, Any], covariates: Sequence[str] = ()) -> None:
        import pandas as pd

        self.factors = factors
        self.coded = {name: pd.factorize(column(rows, name)) for name in factors}
        self.known = np.ones(len(rows), dtype=bool)
        for codes, _levels in self.coded.values():
            self.known &= codes >= 0
        self.covariates = {name: numbers(rows, name) for name in covariates}
        for values in self.covariates.values():
            self.known &= np.isfinite(values)

    def crossed(self, complete: np.ndarray) -> list[tuple[str, str]]:
        """Return the pairs of factors of which every combination of levels occurs in rows that are `complete`."""
        found = []
        for first, second in combinations(self.coded, 2):
            a, b = (self.coded[name][0][complete] for name in (first, second))
            if len(np.unique(np.stack([a, b]), axis=1).T) == len(np.unique(a)) * len(np.unique(b)):
                found.append((first, second))
        return found

    def design(self, complete: np.ndarray, interactions: Sequence[tuple[str, str]] = ()) -> Design:
        """Return the design of the rows that are `complete`.

        Args:
            interactions: pairs of factors of which each two levels have a column, after those of all factors.
        """
        everyone = np.ones(int(complete.sum()), dtype=bool)
        names, warnings = ["Intercept"], []
        sides: list[tuple[np.ndarray, ...]] = [(everyone, everyone)]
        parts: list[tuple[tuple[str, int], ...]] = [()]
        compared: dict[str, tuple[int, list[int]]] = {}
        for name, preferred in self.factors.items():
            codes, levels = self.coded[name]
            codes = codes[complete]
            counts = np.bincount(codes, minlength=len(levels))
            present = np.flatnonzero(counts).tolist()
            reference = next((code for code in present if levels[code] == preferred), None)
            if reference is None:
                # The first of the most frequent ones to occur.
                reference = int(codes[np.argmax(counts[codes])])
                warnings.append(f"{name}: {preferred} does not occur; {levels[reference]} is the reference")
            others = sorted((c for c in present if c != reference), key=lambda code: order_of_level(levels[code]))
            compared[name] = reference, others
            for code in others:
                names.append(f"{name}={levels[code]}")
                sides.append((codes == code, codes == reference))
                parts.append(((name, code),))
        for pair in interactions:
            (a, a_levels), (b, b_levels) = (self.coded[name] for name in pair)
            (a_reference, a_others), (b_reference, b_others) = (compared[name] for name in pair)
            a, b = a[complete], b[complete]
            for one, other in product(a_others, b_others):
                names.append(f"{pair[0]}={a_levels[one]}:{pair[1]}={b_levels[other]}")
                cells = product((one, a_reference), (other, b_reference))
                sides.append(tuple((a == here) & (b == there) for here, there in cells))
                parts.append(((pair[0], one), (pair[1], other)))
        x = np.column_stack([cells[0] for cells in sides]).astype(float)
        for name, values in self.covariates.items():
            x = np.column_stack([x, values[complete]])
            names.append(name)
            sides.append((everyone, everyone))
            parts.append(((name, -1),))
        used = _independent(x)
        return Design(
            x[:, used], [names[index] for index in used],
            [name for index, name in enumerate(names) if index not in used], warnings,
            [sides[index] for index in used], [parts[index] for index in used],
        )  # fmt: skip


def order_of_level(level: Any) -> tuple[int, Any, str]:
    """Return a sort key: numbers first, by value, then everything else, by its text."""
    if isinstance(level, int | float) and not isinstance(level, bool):
        return (0, level, "")
    return (1, 0, str(level))


def _independent(x: np.ndarray) -> list[int]:
    """Return the columns that earlier ones do not explain (QR in the order of the columns)."""
    used = list(range(x.shape[1]))
    x = x / np.maximum(np.linalg.norm(x, axis=0), 1e-300)
    with suppress(np.linalg.LinAlgError):  # faster, and enough for most designs
        if np.diag(np.linalg.cholesky(x.T @ x)).min() > SURELY_INDEPENDENT:
            return used
    triangle = np.linalg.qr(x).R
    while True:
        left = np.abs(np.diag(np.linalg.qr(triangle[:, used]).R))
        explained = np.flatnonzero(np.append(left, np.zeros(len(used) - len(left))) <= COLLINEAR_BELOW)
        if not len(explained):
            return used
        del used[explained[0]]


def _fitted(design: Design, y: np.ndarray, groups: np.ndarray | None, covariance: Covariance, level: float) -> Result:
    from statsmodels.regression.linear_model import OLS

    n, k = design.x.shape
    clusters = 0 if groups is None else len(np.unique(groups))
    note, df = "as many terms as observations" if n <= k else "", n - k
    if groups is not None:
        note, df = "fewer than two clusters" if clusters < 2 or n <= k else "", max(clusters - 1, 0)
    options: dict[str, Any] = {}
    if groups is not None and not note:
        options = {"cov_type": "cluster", "cov_kwds": {"groups": groups}, "use_t": True}
    elif covariance == "HC1" and not note:
        options = {"cov_type": "HC1", "use_t": True}
    fit = OLS(y, design.x, hasconst=True).fit(method="qr", **options)
    total = float(((y - y.mean()) ** 2).sum())
    terms = [
        {"term": name, "estimate": float(estimate), **dict.fromkeys(("se", "low", "high", "p"))}
        for name, estimate in zip(design.names, fit.params, strict=True)
    ]
    if not note:
        nothing = NOTHING * (total / n) ** 0.5
        with np.errstate(invalid="ignore", divide="ignore"):
            found = np.column_stack([fit.bse, fit.conf_int(1 - level), fit.pvalues]).tolist()
        for term, (se, low, high, p) in zip(terms, found, strict=True):
            term |= {"se": se, "low": low, "high": high, "p": p if se > nothing else None}
    return {
        "terms": terms, "df": df, "r2": 1 - float(fit.ssr) / total if total > 0 else None, "n": n,
        "dropped": design.dropped, "warnings": design.warnings, **({"note": note} if note else {}),
    }  # fmt: skip
