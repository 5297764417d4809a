"""Which observations depend on each other, and the means and shares of dependent observations.

Two rows depend on each other if a person took part in both, directly or through a chain of other rows, if they belong
to the same group, or if they repeat one record of agents. A unit is a connected component of that relation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from analysis.toolbox.numbers import Result, Rows, column, numbers, undefined

FEWEST_UNITS, FEWEST_ON_A_SIDE = 5, 3
"""Fewest units for an interval: in all rows, and with either of the levels compared."""
NO_OBSERVATIONS = "there are no observations"
ALWAYS_THE_SAME = "these agents always play the same; more repetitions add nothing"
TOO_FEW = f"there are fewer than {FEWEST_UNITS} independent units"
TOO_FEW_HERE = f"there are fewer than {FEWEST_ON_A_SIDE} independent units"
NO_VARIATION = "nothing varies"
ONE_UNIT_DOMINATES = "one independent unit holds half of the observations"


def components(n: int, relations: Sequence[Sequence[Any]]) -> np.ndarray:
    """Return the number of each row's connected component, in order of their first rows.

    Args:
        relations: each is a list of columns; rows belong together if one value occurs in any of these columns in both.
            Values of different relations have nothing to do with each other. None is a missing value.
    """
    import pandas as pd
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows, nodes, total = [], [], n
    for columns in relations:
        if not columns:
            continue
        values = np.concatenate([np.asarray(values, dtype=object) for values in columns])
        try:
            codes, labels = pd.factorize(values)
        except TypeError:  # a value that has no hash, such as a list
            codes, labels = pd.factorize(np.array([None if value is None else repr(value) for value in values]))
        known = codes >= 0
        rows.append(np.tile(np.arange(n), len(columns))[known])
        nodes.append(total + codes[known])
        total += len(labels)
    if not rows:
        return np.arange(n)
    ends = np.concatenate(rows), np.concatenate(nodes)
    graph = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(total, total))
    numbers = connected_components(graph, directed=False)[1][:n]
    first, inverse = np.unique(numbers, return_index=True, return_inverse=True)[1:]
    return np.argsort(np.argsort(first))[inverse]


class Dependence:
    """The units of some rows.

    Attributes:
        unit: each row's unit.
        exact: whether the row's cell holds one record of agents, played at least twice.
        kind: "replay" if identical records of agents were joined, else "component".
    """

    def __init__(
        self,
        rows: Rows,
        people: Sequence[str] = (),
        group: str | None = None,
        replay: str | None = None,
        cell: Sequence[str] = (),
    ) -> None:
        import pandas as pd

        n = len(rows)
        relations: list[list[Any]] = [
            [column(rows, name) for name in people],
            [] if group is None else [column(rows, group)],
        ]
        self.exact, self.kind = np.zeros(n, dtype=bool), "component"
        if replay is not None and n:
            keys = {str(index): pd.factorize(column(rows, name))[0] for index, name in enumerate(cell)}
            frame = pd.DataFrame({**keys, "record": pd.factorize(column(rows, replay))[0]})
            for name in people:  # what people do alike is no replay
                frame.loc[pd.notna(column(rows, name)), "record"] = -1
            cells = frame.groupby([*keys], sort=False)["record"] if keys else frame.groupby(lambda _row: 0)["record"]
            one_record = (cells.transform("min") == cells.transform("max")) & (frame["record"] >= 0)
            self.exact = (one_record & (cells.transform("size") > 1)).to_numpy()
            record = frame.groupby([*frame], sort=False).ngroup().to_numpy()
            relations.append([pd.Series(record).where(frame["record"] >= 0)])
            if frame.duplicated()[frame["record"] >= 0].any():
                self.kind = "replay"
        self.unit = components(n, relations)


def mean_intervals(
    mean: np.ndarray,
    deviations: np.ndarray,
    code: np.ndarray,
    unit: np.ndarray,
    *,
    share: bool,
    units_in_all: int,
    level: float,
    bounds: tuple[float, float] | None = None,
) -> dict[str, np.ndarray]:
    """Return intervals of the means or shares of groups of dependent values.

    Means: standard errors from leaving out one unit at a time (CR3), and t with Bell and McCaffrey's degrees of
    freedom, on the logit scale of the range if there is one. Shares: Wilson's interval with n divided by the design
    effect, and t in place of z; so also for means at an end of the range, where n is the number of units.

    Args:
        mean: of each group.
        deviations: of each value from the mean of its group; `code` is its group and `unit` its unit.
        units_in_all: number of units in all rows of the analysis.
        bounds: the smallest and largest possible value.

    Returns:
        clusters, se, df, low and high of each group, NaN if undefined; and note, which says why.
    """
    from scipy.special import stdtrit

    groups = len(mean)
    width = int(unit.max(initial=0)) + 1
    pairs, pair_index, size = np.unique(code * width + unit, return_inverse=True, return_counts=True)
    of_pair = pairs // width
    sums = np.bincount(pair_index, deviations, len(pairs))

    def total(values: np.ndarray) -> np.ndarray:
        return np.bincount(of_pair, values, groups)

    n, clusters, largest = total(size), np.bincount(of_pair, minlength=groups), np.zeros(groups)
    np.maximum.at(largest, of_pair, size)
    note = np.full(groups, "", dtype=object)
    note[2 * largest >= n] = ONE_UNIT_DOMINATES
    note[clusters < FEWEST_ON_A_SIDE] = TOO_FEW_HERE
    if units_in_all < FEWEST_UNITS:
        note[:] = TOO_FEW
    with np.errstate(invalid="ignore", divide="ignore"):
        if share:
            df = clusters - 1.0
            variance = clusters / df * total(sums**2) / n**2
            effective = np.where(mean * (1 - mean) > 0, np.minimum(n, mean * (1 - mean) / variance), clusters)
            low, high = wilson(mean, effective, stdtrit(df, (1 + level) / 2))
        else:
            others = n[of_pair] - size
            weight = size / others
            variance = (clusters - 1) / clusters * total((sums / others) ** 2)
            squares = total(weight**2)
            df = np.minimum(total(weight) ** 2 / (squares + squares**2 - total(weight**4)), clusters - 1.0)
            half, at_end = stdtrit(df, (1 + level) / 2) * np.sqrt(variance), np.zeros(groups, dtype=bool)
            low, high = mean - half, mean + half
            if bounds is not None:
                low, high = limited(mean, half, *bounds)
            if bounds is not None and np.isfinite(bounds[1] - bounds[0]):
                scaled = (mean - bounds[0]) / (bounds[1] - bounds[0])
                at_end = (np.bincount(code, np.abs(deviations), groups) == 0) & ((scaled == 0) | (scaled == 1))
                ends = wilson(scaled, clusters, stdtrit(clusters - 1.0, (1 + level) / 2))
                low, high = (np.where(at_end, bounds[0] + end * (bounds[1] - bounds[0]), own)
                             for end, own in zip(ends, (low, high), strict=True))  # fmt: skip
            note[(variance <= 0) & ~at_end & (note == "")] = NO_VARIATION
        se = np.sqrt(variance)
    undefined_here = note != ""
    return {"clusters": clusters, "note": note} | {
        name: np.where(undefined_here, np.nan, values)
        for name, values in (("se", se), ("df", df), ("low", low), ("high", high))
    }


def wilson(share: Any, n: Any, t: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's interval of shares of n, with t in place of z."""
    scale = 1 + t * t / n
    centre = (share + t * t / (2 * n)) / scale
    half = t * np.sqrt(share * (1 - share) / n + t * t / (4 * n**2)) / scale
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def limited(mean: Any, half: Any, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Return mean ± half within a range: on its logit scale if both ends are finite and the mean is inside it."""
    ends = np.clip(mean - half, low, high), np.clip(mean + half, low, high)
    width = high - low
    if not np.isfinite(width) or width <= 0:
        return ends
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        odds, half = (mean - low) / (high - mean), half * width / ((mean - low) * (high - mean))
        inside = (mean > low) & (mean < high)
        logit = (high - width / (1 + odds * np.exp(-half)), high - width / (1 + odds * np.exp(half)))
        return np.where(inside, logit[0], ends[0]), np.where(inside, logit[1], ends[1])


def share(
    rows: Rows,
    outcome: str,
    people: Sequence[str] = (),
    group: str | None = None,
    replay: str | None = None,
    cell: Sequence[str] = (),
    *,
    level: float = 0.95,
) -> Result:
    """Return the share of rows whose outcome is true, with Wilson's interval for dependent rows.

    Args:
        people, group, replay, cell: as in `effects`.

    Returns:
        estimate, se, low, high, n, clusters (the units), unit; and a note if the interval is undefined.
    """
    values = numbers(rows, outcome)
    known = np.isfinite(values)
    dependence = Dependence(rows, people, group, replay, cell)
    n, units = int(known.sum()), np.unique(dependence.unit[known])
    if not n:
        return undefined("estimate se low high", NO_OBSERVATIONS, n=0, clusters=0, unit=dependence.kind)
    estimate = float(values[known].mean())
    result = {"estimate": estimate, "n": n, "clusters": len(units), "unit": dependence.kind}
    if dependence.exact[known].all():
        return {**undefined("se low high", ALWAYS_THE_SAME), **result}
    found = mean_intervals(
        np.array([estimate]), values[known] - estimate, np.zeros(n, dtype=int), dependence.unit[known],
        share=True, units_in_all=len(units), level=level,
    )  # fmt: skip
    if found["note"][0]:
        return {**undefined("se low high", found["note"][0]), **result}
    return {**result, **{key: float(found[key][0]) for key in ("se", "low", "high")}}
