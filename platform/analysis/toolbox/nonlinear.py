"""Logit and ordered logit with factors, beside the linear model: errors clustered by unit (CR1), t with G-1."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from analysis.toolbox.dependence import FEWEST_UNITS, Dependence
from analysis.toolbox.effects import tested
from analysis.toolbox.numbers import Result, Rows, numbers
from analysis.toolbox.regression import Coded, Design

FARTHEST = 15.0
"""A coefficient beyond this means that the outcome is the same throughout a level."""
MOST_ANSWERS = 11


def logit_effects(
    rows: Rows, outcome: str, factors: Mapping[str, Any], group: str | None = None, *, level: float = 0.95
) -> list[Result]:
    """Return the average marginal effect of each level on the probability that the outcome is true.

    Args:
        group: a column; rows with the same value depend on each other.

    Returns:
        terms as in `effects`; none if the model has no solution, or there are fewer than five units.
    """
    from statsmodels.discrete.discrete_model import Logit

    design, y, unit = _regression(rows, outcome, factors, group)
    if design is None or len(np.unique(y)) != 2:
        return []
    with _quietly():
        fit = _fitted(Logit(y, design.x), unit, maxiter=50)
    if fit is None:
        return []
    beta, covariance = np.asarray(fit.params), np.asarray(fit.cov_params())
    if not fit.mle_retvals["converged"] or not np.isfinite(covariance).all() or np.abs(beta).max() > FARTHEST:
        return []
    found = []
    for index, parts in enumerate(design.parts):
        if parts:
            own = [i for i, others in enumerate(design.parts) if others and others[0][0] == parts[0][0]]
            without = design.x.copy()
            without[:, own] = 0
            with_level = without.copy()
            with_level[:, index] = 1
            high, low = (1 / (1 + np.exp(-columns @ beta)) for columns in (with_level, without))
            slope = (with_level.T @ (high * (1 - high)) - without.T @ (low * (1 - low))) / len(y)
            row = _tested(float((high - low).mean()), float(slope @ covariance @ slope), unit, level, (-1.0, 1.0))
            found.append({"term": design.names[index], **row, "method": "logit"})
    return found


def ordered_logit(
    rows: Rows, outcome: str, factors: Mapping[str, Any], group: str | None = None, *, level: float = 0.95
) -> list[Result]:
    """Return the log odds ratio of each level for a higher answer; see `logit_effects`."""
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    design, y, unit = _regression(rows, outcome, factors, group)
    if design is None or not 2 < len(np.unique(y)) <= MOST_ANSWERS or design.x.shape[1] < 2:
        return []
    answers = np.unique(y, return_inverse=True)[1]
    with _quietly():
        fit = _fitted(OrderedModel(answers, design.x[:, 1:], distr="logit"), unit, method="bfgs", maxiter=200)
    if fit is None:
        return []
    k = design.x.shape[1] - 1
    beta, variance = np.asarray(fit.params)[:k], np.diag(np.asarray(fit.cov_params()))[:k]
    if not fit.mle_retvals["converged"] or not np.isfinite(variance).all() or np.abs(beta).max() > FARTHEST:
        return []
    return [{"term": name, **_tested(float(b), float(v), unit, level), "method": "ordered logit"}
            for name, b, v in zip(design.names[1:], beta, variance, strict=True)]  # fmt: skip


def _fitted(model: Any, unit: np.ndarray, **options: Any) -> Any:
    """Return the fit of a model; None if it has no solution."""
    try:
        return model.fit(disp=0, cov_type="cluster", cov_kwds={"groups": unit}, **options)
    except (np.linalg.LinAlgError, ValueError, ArithmeticError):
        return None


def _tested(
    estimate: float,
    variance: float,
    unit: np.ndarray,
    level: float,
    limits: tuple[float, float] = (float("-inf"), float("inf")),
) -> Result:
    clusters, n = int(unit.max()) + 1, len(unit)
    row = {"estimate": estimate, **dict.fromkeys(("se", "low", "high", "p", "df")), "n": n, "clusters": clusters}
    return row | tested(estimate, variance**0.5, clusters - 1.0, level, limits) if variance > 0 else row


def _regression(
    rows: Rows, outcome: str, factors: Mapping[str, Any], group: str | None
) -> tuple[Design | None, np.ndarray, np.ndarray]:
    """Return the columns, outcomes and units of complete rows; no columns if there are too few units."""
    y, coded = numbers(rows, outcome), Coded(rows, factors)
    complete = np.isfinite(y) & coded.known
    unit = np.unique(Dependence(rows, group=group).unit[complete], return_inverse=True)[1]
    enough = len(unit) and unit.max() + 1 >= FEWEST_UNITS
    return coded.design(complete) if enough else None, y[complete], unit


@contextmanager
def _quietly() -> Iterator[None]:
    """Leave out the libraries' warnings; results say themselves whether they were found."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
