"""The effect of a variable within strata, such as within matches, for dependent observations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis.toolbox.dependence import (
    ALWAYS_THE_SAME,
    FEWEST_ON_A_SIDE,
    FEWEST_UNITS,
    NO_VARIATION,
    ONE_UNIT_DOMINATES,
    TOO_FEW,
    TOO_FEW_HERE,
)
from analysis.toolbox.effects import MANY_ON_A_SIDE, MANY_UNITS, tested

if TYPE_CHECKING:
    import numpy as np


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


MOST_NUMBERS = 10_000_000
"""Size of the matrix from which exact degrees of freedom are not worth their memory."""


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
