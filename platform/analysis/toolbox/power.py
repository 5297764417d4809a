"""Power by simulation: how often `effects` finds an effect, given who will meet whom."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import ceil, sqrt

import numpy as np

from analysis.toolbox.effects import Effects
from analysis.toolbox.estimates import proportion
from analysis.toolbox.numbers import Result, undefined

GOAL = 0.8
"""The power for which the smallest effect is sought."""


def simulated_power(
    per_level: int,
    *,
    effect: float | None = None,
    sd: float = 1.0,
    icc: float = 0.0,
    within: Sequence[bool] = (False,),
    matches: int = 1,
    people: int = 1,
    regroup: bool = False,
    cohort: int | None = None,
    alpha: float = 0.05,
    draws: int = 1000,
    seed: int = 1,
) -> Result:
    """Return the share of simulated studies in which an effect has p < alpha, by the test of `effects`.

    A match's outcome is normal: what its people bring to every match of theirs, and noise. With one factor, the effect
    is the difference between its two levels; with two, their interaction.

    Args:
        per_level: matches at each level that is compared.
        effect: in units of the outcome.
        sd: standard deviation within cells.
        icc: correlation of two matches of the same people.
        within: for each factor, whether everybody meets both levels.
        matches: of each person in each cell that they meet.
        people: in a match.
        regroup: whether people meet others in each match, within cohorts of this size or within all of their arm.
        draws: simulated studies.

    Returns:
        power, its Wilson interval (low, high), smallest (the effect found with 80 % power), n (matches), people, units
        (independent ones), method, and note: why there is none.
    """
    rng = np.random.default_rng(seed)
    cells, members, cohorts = _design(per_level, within, matches, people, cohort if regroup else 0, rng)
    names = [f"factor_{number}" for number in range(len(within))]
    seats = [f"person_{number}" for number in range(people)]
    rows = [
        {**dict(zip(names, map(str, cell), strict=True)), **dict(zip(seats, group, strict=True)), "cohort": own}
        for cell, group, own in zip(cells, members.tolist(), cohorts, strict=True)
    ]
    prepared = Effects(rows, dict.fromkeys(names, "0"), people=seats, group="cohort", robustness=False)
    term = ":".join(f"{name}=1" for name in names)
    persons = int(members.max()) + 1
    sizes: Result = {"n": len(rows), "people": persons}
    tests = []
    for _draw in range(draws):
        brought = rng.normal(0, sd * sqrt(icc), persons)[members].sum(axis=1) / sqrt(people)
        found = prepared.on(brought + rng.normal(0, sd * sqrt(1 - icc), len(rows)))
        test = next((each for each in found["terms"] if each["term"] == term), None)
        sizes |= {"units": found["clusters"], "method": test["method"] if test else "none"}
        if test is None or test["se"] is None:
            return undefined("power low high smallest", test["note"] if test else "too few matches", **sizes)
        tests.append((test["estimate"], test["se"], test["df"]))
    return _power(np.array(tests), effect, alpha) | sizes


def _design(
    per_level: int, within: Sequence[bool], matches: int, people: int, cohort: int | None, rng: np.random.Generator
) -> tuple[list[tuple[int, ...]], np.ndarray, list[str | None]]:
    """Return each match's cell, people (as numbers) and cohort.

    Args:
        cohort: how many people meet each other in turns; 0 if groups stay together, None for all of an arm.
    """
    in_cell = max(1, per_level // 2 ** (len(within) - 1))
    groups = ceil(in_cell / matches)
    cells: list[tuple[int, ...]] = []
    members: list[np.ndarray] = []
    cohorts: list[str | None] = []
    for arm, levels in enumerate(product((0, 1), repeat=len(within) - sum(within))):
        own = arm * groups * people + np.arange(groups * people)
        pool = own if cohort == 0 else None
        for passed in product((0, 1), repeat=sum(within)):
            between, during = iter(levels), iter(passed)
            cell = tuple(next(during) if each else next(between) for each in within)
            rounds = [
                (_regrouped(own, cohort or len(own), rng) if pool is None else pool).reshape(-1, people)
                for _match in range(matches)
            ]
            played = np.concatenate(rounds)[:in_cell]
            members.append(played)
            cells += [cell] * len(played)
            cohorts += [f"{arm}/{place}" if cohort else None for place in (played[:, 0] - own[0]) // (cohort or 1)]
    return cells, np.concatenate(members), cohorts


def _regrouped(people: np.ndarray, cohort: int, rng: np.random.Generator) -> np.ndarray:
    parts = [people[first : first + cohort] for first in range(0, len(people), cohort)]
    return np.concatenate([rng.permutation(part) for part in parts])


def _power(tests: np.ndarray, effect: float | None, alpha: float) -> Result:
    """Return the power, given estimate, se and df of studies without an effect: an effect moves the estimate alone."""
    from scipy.stats import t

    estimates, se, df = tests.T
    critical = se * t.ppf(1 - alpha / 2, df)

    def rejected(true: float) -> int:
        return int((abs(estimates + true) > critical).sum())

    low, high = 0.0, float(critical.max() + abs(estimates).max())
    for _halving in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rejected(middle) < GOAL * len(tests) else (low, middle)
    found: Result = {"power": None, "low": None, "high": None, "smallest": high}
    if effect is not None:
        share = proportion(rejected(effect), len(tests))
        found |= {"power": share["estimate"], "low": share["low"], "high": share["high"]}
    return found
