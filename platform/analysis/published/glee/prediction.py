"""Predictive accuracy of the linear model compared with boosted trees (appendix F.3, table 9)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from analysis.data import Data
from analysis.errors import SkippedError
from analysis.options import Options
from analysis.published.glee import printed
from analysis.published.glee.families import (
    FAMILIES,
    FAMILY,
    METRIC,
    METRICS,
    ROLES,
    families,
    frame,
    of_families,
)
from analysis.results import Result
from analysis.tables import Table, count, number, numbers

SHUFFLES = 100
TEST_SHARE = 0.2
FEWEST = 10
LARGE = 5_000
TREE_SHUFFLES, TREE_SHUFFLES_OF_LARGE = 10, 3
"""Numbers of shuffles for trees, which take hundreds of times as long to fit as the linear model."""
TREES = {
    "histogram trees": ("sklearn.ensemble", "HistGradientBoostingRegressor", {"random_state": 0}),
    "XGBoost": ("xgboost", "XGBRegressor", {"random_state": 0}),
    "CatBoost": ("catboost", "CatBoostRegressor", {"random_seed": 0, "verbose": False}),
}
"""Boosted trees with default settings; those not installed are left out."""


@of_families(
    "glee.prediction", "Linear model compared with boosted trees (GLEE, table 9)",
    "Is the linear model good enough?",
    f"Models are fitted on 80 % of the matches and tested on 20 %, over shuffles with seeds 0 to "
    f"{SHUFFLES - 1}. Root mean squared error of OLS and of boosted trees with the same dummies and default "
    "settings: scikit-learn's histogram trees, and XGBoost and CatBoost if they are installed. Trees use only the "
    f"first {TREE_SHUFFLES} shuffles ({TREE_SHUFFLES_OF_LARGE} for more than {LARGE:,} matches).",
)  # fmt: skip
def prediction(data: Data, options: Options) -> Result:
    results = []
    for family in families(data):
        rows = frame(data, family)
        x = dummies(rows, [*FAMILIES[family].factors, *ROLES])
        y = rows[[*METRICS]].to_numpy(dtype=float)
        found: dict[int, dict[str, Any]] = {}
        # Metrics available for the same matches share every shuffle, so they are predicted together.
        for available in np.unique(~np.isnan(y), axis=1).T:
            alike = [index for index in range(len(METRICS)) if (~np.isnan(y[:, index]) == available).all()]
            if available.sum() >= FEWEST:
                found |= zip(alike, errors(x[available], y[available][:, alike]), strict=True)
        results += [
            {"family": FAMILIES[family].title, "metric": title, "published": printed.ERRORS[family, metric],
             **found[index], "key": f"{family}.{metric}"}
            for index, (metric, title) in enumerate(METRICS.items()) if index in found
        ]  # fmt: skip
    if not results:
        raise SkippedError(f"Fewer than {FEWEST} matches have values of the metrics.")
    of = pd.DataFrame(results)
    trees = [column for name in TREES if name in of for column in (
        number(name, name[:1].upper() + name[1:]), number(f"{name}_sd", "SD"))]  # fmt: skip
    table = Table(
        "errors", "Root mean squared error on the test matches: mean and SD over shuffles",
        [FAMILY, METRIC, count("n", "Matches"), number("linear", "Linear"), number("linear_sd", "SD"),
         number("published", "Published linear"), *trees, count("tree_shuffles", "Shuffles for trees")],
        of.drop(columns="key"),
        note=f"Linear model: {SHUFFLES} shuffles. In the paper, trees are within .01 of the linear model.",
    )  # fmt: skip
    return Result([table], numbers=numbers(of.rename(columns={"linear": "estimate"}), "{key}"))


def dummies(rows: pd.DataFrame, factors: list[str]) -> np.ndarray:
    """Return a column of ones and 0/1 columns for each factor's levels except the first."""
    columns = [np.ones(len(rows))]
    for factor in factors:
        levels, codes = np.unique(rows[factor].astype("str"), return_inverse=True)
        columns += [(codes == index).astype(float) for index in range(1, len(levels))]
    return np.column_stack(columns)


def errors(x: np.ndarray, y: np.ndarray) -> list[dict[str, Any]]:
    """Return each model's prediction errors over shuffles 0, 1, …, for each column of y.

    Args:
        x: a column of ones, then dummies.
        y: outcomes, one per column, without missing values.

    Returns:
        for each outcome: n, and each model's mean error and its SD (n-1), under the model's name.
    """
    models = {name: _model_factory(*spec) for name, spec in TREES.items() if find_spec(spec[0]) is not None}
    n_tree_shuffles = TREE_SHUFFLES if len(y) <= LARGE else TREE_SHUFFLES_OF_LARGE
    errors_by_model: dict[str, list[list[float]]] = {"linear": []}
    squares, sums = x.T @ x, x.T @ y
    for seed in range(SHUFFLES):
        train, test = split(len(y), seed)
        test_rows, truth = x[test], y[test]
        # The training sums are the total sums minus the test sums, so only the test rows are read for each shuffle.
        solution = np.linalg.lstsq(squares - test_rows.T @ test_rows, sums - test_rows.T @ truth, rcond=1e-10)[0]
        errors_by_model["linear"].append(rmse(test_rows @ solution, truth))
        for name, make_model in models.items() if seed < n_tree_shuffles else ():
            predicted = [
                _predicted(make_model, x[train, 1:], y[train, index], test_rows[:, 1:]) for index in range(y.shape[1])
            ]
            errors_by_model.setdefault(name, []).append(rmse(np.column_stack(predicted), truth))
    rows: list[dict[str, Any]] = [{"n": len(y), "tree_shuffles": n_tree_shuffles} for _outcome in range(y.shape[1])]
    for name, values in errors_by_model.items():
        for index, row in enumerate(rows):
            own_values = [value[index] for value in values]
            row[name] = float(np.mean(own_values))
            row[f"{name}_sd"] = float(np.std(own_values, ddof=1)) if len(values) > 1 else None
    return rows


def _predicted(make_model: Callable[[], Any], x: np.ndarray, y: np.ndarray, test: np.ndarray) -> Any:
    """Return a model's predictions for the test matches, or the mean if no column distinguishes the matches.

    The model uses one thread. Several threads would mostly wait for each other, especially on a busy machine, and
    one thread gives the same bytes everywhere.
    """
    from threadpoolctl import threadpool_limits

    if not x.shape[1]:
        return np.full(len(test), y.mean())
    model = make_model()
    with threadpool_limits(1):
        return model.fit(x, y).predict(test)


def split(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training rows and test rows of the shuffle with this seed; the last fifth is the test set."""
    order = np.random.default_rng(seed).permutation(n)
    tests = max(1, round(TEST_SHARE * n))
    return order[:-tests], order[-tests:]


def rmse(predicted: Any, truth: Any) -> Any:
    """Return the root mean squared error; for matrices, a list with one value per column."""
    return np.sqrt(np.mean((np.asarray(predicted) - np.asarray(truth)) ** 2, axis=0)).tolist()


def _model_factory(module: str, name: str, settings: dict[str, Any]) -> Callable[[], Any]:
    return lambda: getattr(import_module(module), name)(**settings)
