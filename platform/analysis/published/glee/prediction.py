"""Whether the linear model predicts as well as boosted trees (appendix F.3, table 9)."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from analysis.errors import SkippedError
from analysis.published.glee import printed
from analysis.published.glee.families import FAMILIES, METRICS, NEEDED, ROLES, families, frame
from analysis.results import Analysis, Options, Result, Table, count, number, text

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.data import Data

SHUFFLES = 100
TEST_SHARE = 0.2
FEWEST = 10
LARGE = 5_000
TREE_SHUFFLES, TREE_SHUFFLES_OF_LARGE = 10, 3
"""Fitting trees takes hundreds of times as long as solving for the linear model."""
TREES = {
    "histogram trees": ("sklearn.ensemble", "HistGradientBoostingRegressor", {"random_state": 0}),
    "XGBoost": ("xgboost", "XGBRegressor", {"random_state": 0}),
    "CatBoost": ("catboost", "CatBoostRegressor", {"random_seed": 0, "verbose": False}),
}
"""Boosted trees with their defaults, where they are installed."""


def prediction(data: Data, options: Options) -> Result:
    """Root mean squared errors on test matches, of the linear model and of boosted trees."""
    made, numbers = [], {}
    for family in families(data):
        rows = frame(data, family)
        if len(rows) < FEWEST:
            continue
        x = dummies(rows, [*FAMILIES[family].factors, *ROLES])
        for metric, words in METRICS.items():
            y = rows[metric].to_numpy(dtype=float)
            known = y == y
            if known.sum() < FEWEST:
                continue
            row: dict[str, Any] = {"family": FAMILIES[family].title, "metric": words, "n": int(known.sum())}
            row |= errors(x[known], y[known])
            row["published"] = printed.ERRORS[family, metric]
            made.append(row)
            numbers[f"{family}.{metric}"] = {"estimate": row["linear"], "n": row["n"]}
    if not made:
        raise SkippedError(f"Fewer than {FEWEST} matches have a value.")
    columns = [text("family", "Family"), text("metric", "Metric"), count("n", "Matches"), number("linear", "Linear"),
               number("linear_sd", "SD"), number("published", "Published linear")]  # fmt: skip
    for name in (name for name in TREES if any(name in row for row in made)):
        columns += [number(name, name.capitalize() if name[0].islower() else name), number(f"{name}_sd", "SD")]
    columns.append(count("tree_shuffles", "Shuffles of trees"))
    table = Table(
        "errors", "Root mean squared error on the test matches: mean and SD over shuffles", columns, made,
        note=f"Linear: {SHUFFLES} shuffles. The paper finds trees within .01 of the linear model.",
    )  # fmt: skip
    return Result([table], [], numbers)


def dummies(rows: pd.DataFrame, factors: list[str]) -> np.ndarray:
    """A column per level of each factor but the first, as 0 and 1."""
    import numpy as np

    columns = [np.ones(len(rows))]
    for factor in factors:
        levels, codes = np.unique(rows[factor].astype("str"), return_inverse=True)
        columns += [(codes == at).astype(float) for at in range(1, len(levels))]
    return np.column_stack(columns)


def errors(x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Errors of each model over shuffles 0, 1, …: its mean under the model's name, and the SD (n-1)."""
    import numpy as np

    found: dict[str, list[float]] = {"linear": []}
    models = {name: _maker(*spec) for name, spec in TREES.items() if find_spec(spec[0]) is not None}
    for_trees = TREE_SHUFFLES if len(y) <= LARGE else TREE_SHUFFLES_OF_LARGE
    for seed in range(SHUFFLES):
        train, test = split(len(y), seed)
        solution = _least_squares(x[train], y[train])
        found["linear"].append(rmse(x[test] @ solution, y[test]))
        for name, make in models.items() if seed < for_trees else ():
            predicted = make().fit(x[train, 1:], y[train]).predict(x[test, 1:]) if x.shape[1] > 1 else y[train].mean()
            found.setdefault(name, []).append(rmse(predicted, y[test]))
    row: dict[str, Any] = {"tree_shuffles": for_trees}
    for name, values in found.items():
        row |= {name: float(np.mean(values)), f"{name}_sd": float(np.std(values, ddof=1)) if len(values) > 1 else None}
    return row


def split(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to fit and rows to test, of a shuffle by this seed: the last fifth is the test."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(n)
    tests = max(1, round(TEST_SHARE * n))
    return order[:-tests], order[-tests:]


def _least_squares(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The smallest solution, by the normal equations: columns are 0 and 1, so that these are exact enough."""
    import numpy as np

    solution: np.ndarray = np.linalg.lstsq(x.T @ x, x.T @ y, rcond=1e-10)[0]
    return solution


def rmse(predicted: Any, truth: Any) -> float:
    import numpy as np

    return float(np.sqrt(np.mean((np.asarray(predicted) - np.asarray(truth)) ** 2)))


def _maker(module: str, name: str, settings: dict[str, Any]) -> Callable[[], Any]:
    return lambda: getattr(import_module(module), name)(**settings)


ANALYSES = [
    Analysis(
        id="glee.prediction",
        title="Linear model against boosted trees (GLEE, table 9)",
        question="Is the linear model good enough?",
        method=f"80 % of the matches fit, 20 % test, over shuffles by seed 0 to {SHUFFLES - 1}; root mean squared "
        "error of OLS and of boosted trees with the same dummies and default settings: scikit-learn's histogram "
        "trees, and XGBoost and CatBoost where they are installed; "
        f"trees have the first {TREE_SHUFFLES} shuffles only "
        f"({TREE_SHUFFLES_OF_LARGE} of more than {LARGE:,} matches).",
        run=prediction, games=tuple(FAMILIES), columns=NEEDED,
    )
]  # fmt: skip
