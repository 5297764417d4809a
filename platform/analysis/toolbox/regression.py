"""OLS with factors, and with classical, heteroscedasticity-consistent or cluster-robust standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from analysis.toolbox.dependence import column
from analysis.toolbox.numbers import Result, finite, undefined

Row = Mapping[str, Any]
Covariance = Literal["classical", "HC1"]
COLLINEAR_BELOW = 1e-9
"""A column is dropped if the norm of its part not explained by earlier columns, relative to its own, is below this."""
INDEPENDENT_FROM = 1e-4
"""From this size, a part cannot be a rounding error of the correlations, so the slower check is not needed."""
MISSING = float("nan")


def ols(
    rows: Sequence[Row] | Any,
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
    import numpy as np

    y = numbers(rows, outcome)
    coded = Coded(rows, factors)
    groups = None if clusters is None else _coded(column(rows, clusters))[0]
    complete = np.isfinite(y) & coded.known
    if groups is not None:
        complete &= groups >= 0
        groups = groups[complete]
    if not complete.any():
        return undefined("df r2", "no observations", terms=[], n=0, dropped=[], warnings=[])
    return _fitted(coded.design(complete), y[complete], groups, covariance, level)


def numbers(rows: Any, outcome: str) -> Any:
    """Return an outcome as an array, with NaN for missing values."""
    import numpy as np

    return np.array([MISSING if (number := finite(value)) is None else number for value in column(rows, outcome)])


@dataclass(frozen=True)
class Design:
    """A regression's independent columns.

    Attributes:
        x: an intercept and dummies, one row per observation.
        names: of the columns: "Intercept" or "name=level".
        dropped: names of collinear columns.
        sides: for each column, whether each observation has the level, and whether it has the reference level.
    """

    x: Any
    names: list[str]
    dropped: list[str]
    warnings: list[str]
    sides: list[tuple[Any, Any]]


class Coded:
    """Factors of some rows, coded as numbers.

    Args:
        factors: reference level of each factor; if it does not occur, the most frequent level replaces it.

    Attributes:
        known: whether no factor of the row is missing.
    """

    def __init__(self, rows: Any, factors: Mapping[str, Any]) -> None:
        import numpy as np

        self.factors = factors
        self.coded = {name: _coded(column(rows, name)) for name in factors}
        self.known = np.ones(len(rows), dtype=bool)
        for codes, _values in self.coded.values():
            self.known &= codes >= 0

    def design(self, complete: Any) -> Design:
        """Return the design of the rows that are `complete`."""
        import numpy as np

        n = int(complete.sum())
        everyone = np.ones(n, dtype=bool)
        names, columns, sides, warnings = ["Intercept"], [np.ones(n)], [(everyone, everyone)], []
        for name, preferred in self.factors.items():
            codes, values = self.coded[name]
            codes = codes[complete]
            counts = np.bincount(codes, minlength=len(values))
            present = [code for code in range(len(values)) if counts[code]]
            reference = next((code for code in present if values[code] == preferred), None)
            if reference is None:
                most_frequent = [code for code in present if counts[code] == counts.max()]
                reference = min(most_frequent, key=lambda code: int(np.argmax(codes == code)))
                warnings.append(f"{name}: {preferred} does not occur; {values[reference]} is the reference")
            for code in sorted(present, key=lambda code: _order(values[code])):
                if code != reference:
                    names.append(f"{name}={values[code]}")
                    columns.append((codes == code).astype(float))
                    sides.append((codes == code, codes == reference))
        x, used, dropped = _independent(np.column_stack(columns), names)
        return Design(x, used, dropped, warnings, [sides[names.index(name)] for name in used])


def _coded(values: Sequence[Any]) -> tuple[Any, list[Any]]:
    """Return each value's index among the distinct values (-1 if missing), and those values in order of appearance."""
    import numpy as np

    index_by_value: dict[Any, int] = {}
    codes = [-1 if value is None else index_by_value.setdefault(value, len(index_by_value)) for value in values]
    return np.array(codes, dtype=int), list(index_by_value)


def _order(level: Any) -> tuple[int, Any, str]:
    """Return a sort key: numbers first, by value, then everything else, by its text."""
    if isinstance(level, int | float) and not isinstance(level, bool):
        return (0, level, "")
    return (1, 0, str(level))


def _independent(x: Any, names: list[str]) -> tuple[Any, list[str], list[str]]:
    """Return the columns that earlier ones do not explain, and the names of the other columns."""
    import numpy as np

    norms = np.maximum(np.linalg.norm(x, axis=0), 1e-300)
    if _surely_independent(x, norms):
        return x, names, []
    basis: list[Any] = []
    used_names, dropped, used_indices = [], [], []
    for index, name in enumerate(names):
        residual = x[:, index].copy()
        for _twice in range(2):
            for direction in basis:
                residual -= direction * (direction @ residual)
        length = np.linalg.norm(residual)
        if length <= COLLINEAR_BELOW * norms[index]:
            dropped.append(name)
            continue
        basis.append(residual / length)
        used_names.append(name)
        used_indices.append(index)
    return x[:, used_indices], used_names, dropped


def _surely_independent(x: Any, norms: Any) -> bool:
    """Return whether the Cholesky factor of the correlations shows that no column is explained by earlier ones."""
    import numpy as np

    try:
        factor = np.linalg.cholesky((x.T @ x) / np.outer(norms, norms))
    except np.linalg.LinAlgError:
        return False
    return bool((np.diag(factor) > INDEPENDENT_FROM).all())


def _fitted(design: Design, y: Any, groups: Any, covariance: Covariance, level: float) -> Result:
    import numpy as np
    from scipy.stats import t

    x = design.x
    n, k = x.shape
    inverse = np.linalg.inv(x.T @ x)
    estimates = inverse @ (x.T @ y)
    residuals = y - x @ estimates
    total = float(((y - y.mean()) ** 2).sum())
    result: Result = {
        "terms": [],
        "df": n - k,
        "r2": 1 - float(residuals @ residuals) / total if total > 0 else None,
        "n": n,
        "dropped": design.dropped,
        "warnings": design.warnings,
    }
    spread, df, note = _covariance(x, residuals, inverse, groups, covariance)
    result["df"] = df
    for index, name in enumerate(design.names):
        term = {"term": name, "estimate": float(estimates[index]), "se": None, "low": None, "high": None, "p": None}
        if spread is not None:
            se = float(np.sqrt(max(spread[index, index], 0.0)))
            half = float(t.ppf((1 + level) / 2, df)) * se
            term |= {"se": se, "low": term["estimate"] - half, "high": term["estimate"] + half}
            if se > 0:
                term["p"] = float(2 * t.sf(abs(term["estimate"] / se), df))
        result["terms"].append(term)
    return {**result, **({"note": note} if note else {})}


def _covariance(x: Any, residuals: Any, inverse: Any, groups: Any, covariance: Covariance) -> tuple[Any, int, str]:
    """Return the covariance of the estimates and its degrees of freedom, or None and the reason why it is undefined."""
    import numpy as np

    n, k = x.shape
    if groups is not None:
        _labels, codes = np.unique(groups, return_inverse=True)
        n_clusters = len(_labels)
        sums = np.zeros((n_clusters, k))
        np.add.at(sums, codes, x * residuals[:, None])
        if n_clusters < 2 or n <= k:
            return None, max(n_clusters - 1, 0), "fewer than two clusters"
        middle = sums.T @ sums
        return n_clusters / (n_clusters - 1) * (n - 1) / (n - k) * inverse @ middle @ inverse, n_clusters - 1, ""
    if n <= k:
        return None, n - k, "as many terms as observations"
    if covariance == "HC1":
        middle = (x * (residuals**2)[:, None]).T @ x
        return n / (n - k) * inverse @ middle @ inverse, n - k, ""
    return float(residuals @ residuals) / (n - k) * inverse, n - k, ""
