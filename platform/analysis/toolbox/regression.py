"""OLS with factors, and with classical, heteroscedasticity-consistent or cluster-robust standard errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

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

    y = np.array([MISSING if (number := finite(value)) is None else number for value in _column(rows, outcome)])
    coded = {name: _coded(_column(rows, name)) for name in factors}
    groups = None if clusters is None else _coded(_column(rows, clusters))[0]
    complete = np.isfinite(y)
    for codes, _values in coded.values():
        complete &= codes >= 0
    if groups is not None:
        complete &= groups >= 0
        groups = groups[complete]
    if not complete.any():
        return undefined("df r2", "no observations", terms=[], n=0, dropped=[], warnings=[])
    names, columns, warnings = ["Intercept"], [np.ones(int(complete.sum()))], []
    for name, preferred in factors.items():
        codes, values = coded[name]
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
    x, used_names, dropped = _independent(np.column_stack(columns), names)
    return _fitted(x, y[complete], used_names, dropped, warnings, groups, covariance, level)


def _column(rows: Any, name: str) -> Sequence[Any]:
    """Return one column of the rows or data frame."""
    if hasattr(rows, "columns"):
        values = rows[name]
        return values.astype("object").where(values.notna(), None).tolist()  # type: ignore[no-any-return]
    return [row.get(name) for row in rows]


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


def _fitted(
    x: Any,
    y: Any,
    names: list[str],
    dropped: list[str],
    warnings: list[str],
    groups: Any,
    covariance: Covariance,
    level: float,
) -> Result:
    import numpy as np
    from scipy.stats import t

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
        "dropped": dropped,
        "warnings": warnings,
    }
    spread, df, note = _covariance(x, residuals, inverse, groups, covariance)
    result["df"] = df
    for index, name in enumerate(names):
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
