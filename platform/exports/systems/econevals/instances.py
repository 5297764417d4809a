"""EconEvals' instances, drawn again from their seeds with the generator of the authors' program.

The program draws with NumPy's `RandomState`; the orders of its draws are facts that are repeated here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np

from games.interface import Json
from games.pricing.market import LEVELS as PRICING
from games.pricing.market import P_GROUP
from games.procurement.instances import LEVELS as PROCUREMENT
from games.scheduling.instances import numbered

GAPS: Sequence[tuple[float | None, float | None, str]] = (
    (1, 1, "uniform"), (3, 3, "correlated"), (None, 3, "correlated_shared"), (None, 1, "shared"),
)  # fmt: skip
"""Kinds of preferences: the ratio of the largest score to the smallest, of workers and of tasks, and our name.

None: all have the same ranking. The program uses each kind for three seeds in turn.
"""
TYPES = ("basic", "two_part_tariff", "bulk_discount")


def preferences(rng: np.random.RandomState, n: int, worker_gap: float | None, task_gap: float | None) -> dict[str, Any]:
    """Draw the preferences of n workers, then those of n tasks."""
    workers, tasks = numbered(n)
    return {
        "worker_preferences": _rankings(rng, workers, tasks, task_gap),
        "task_preferences": _rankings(rng, tasks, workers, worker_gap),
    }


def _rankings(
    rng: np.random.RandomState, of: Sequence[str], ranked: Sequence[str], gap: float | None
) -> dict[str, list[str]]:
    """Draw rankings: by shuffled scores, geometrically spaced, each the mean of an exponential; the largest is best."""
    if gap is None:
        shared = [*ranked]
        rng.shuffle(shared)
        return {name: [*shared] for name in of}
    scores = [gap ** (i / (len(ranked) - 1)) for i in range(len(ranked))]
    rng.shuffle(scores)
    drawn = {name: rng.exponential(scale=scores) for name in of}
    return {name: [ranked[i] for i in sorted(range(len(ranked)), key=lambda i: -latent[i])]
            for name, latent in drawn.items()}  # fmt: skip


def sampled_blocking_pairs(instance: Mapping[str, Any], draws: int) -> float:
    """Return the mean number of blocking pairs over random matchings, drawn with seed 0 as the program does."""
    workers, tasks = instance["worker_preferences"], instance["task_preferences"]
    of_worker = np.array([[ranking.index(task) for task in tasks] for ranking in workers.values()])
    of_task = np.array([[ranking.index(worker) for worker in workers] for ranking in tasks.values()])
    n, rng = len(workers), np.random.RandomState(0)
    matchings = np.array([rng.permutation(n) for _draw in range(draws)])
    held = of_task[np.arange(n), np.argsort(matchings, axis=1)]
    found = 0
    for worker in range(n):
        own = of_worker[worker][matchings[:, worker]]
        found += int(((of_worker[worker] < own[:, None]) & (of_task[:, worker] < held)).sum())
    return found / draws


def market(seed: int, level: str, periods: int) -> dict[str, Any]:
    """Draw a market of pricing: linear drifts for even seeds, periodic ones for odd seeds."""
    rng, n = np.random.RandomState(seed), PRICING[level]
    starts, costs, qualities = (rng.uniform(low, high, size=n).tolist() for low, high in ((1, 10), (1, 2), (2, 3)))
    season, groups = rng.randint(10, 20), _groups(rng, n)
    if seed % 2:
        drifts = [{"amplitude": rng.uniform(start / 4, start / 2)} for start in starts]
    else:
        drifts = [{"slope": rng.uniform(-start / (2 * periods), start / (2 * periods))} for start in starts]
    return {"starts": starts, "costs": costs, "qualities": qualities, "season": season, "groups": groups,
            "drifts": drifts}  # fmt: skip


def advice(seed: int) -> float:
    """Draw the highest advised price, as a multiple of the best one; runs do not record it."""
    return float(np.random.RandomState(seed).uniform(1.5, 2.5))


def _groups(rng: np.random.RandomState, n: int) -> list[int]:
    highest = ceil(n / 4)
    while True:
        groups: list[int] = []
        while len(groups) < n:
            group = int(rng.geometric(P_GROUP))
            if group <= highest:
                groups.append(group)
        if len({*groups}) == highest:
            return groups


def offers(seed: int, level: str) -> dict[str, Any]:
    """Draw procurement's effectiveness, offers, and the purchase whose cost gives the budget, but for up to a dollar.

    That rest is drawn without the seed, so that it cannot be drawn again.
    """
    n, categories, p1, p2, highest = PROCUREMENT[level]
    rng = np.random.RandomState(seed)
    groups = [[f"{chr(65 + i)}{j + 1}" for j in range(n // categories)] for i in range(categories)]
    products = [name for group in groups for name in group]
    effectiveness = {name: int(rng.choice(range(1, highest + 1))) for name in products}
    types = [str(kind) for kind in rng.choice(TYPES, n)]
    counts = rng.geometric(p1, n)
    first = rng.permutation(products)
    rng.permutation(products)  # of which the program uses none, as there are as many offers as products
    first = rng.permutation([*first])
    contents = []
    for count, name in zip(counts, first, strict=True):
        names = [str(name), *map(str, rng.choice(products, count - 1))]
        contents.append(dict(zip(names, map(int, rng.geometric(p2, count)), strict=True)))
    drawn = {}
    for number, (kind, units) in enumerate(zip(types, contents, strict=True), start=1):
        drawn[f"Offer_{number}"] = {"type": kind, "contents": units, **_prices(rng, kind)}
    needed = [str(rng.choice(group)) for group in groups]
    chosen = [str(rng.choice([name for name, offer in drawn.items() if product in offer["contents"]]))
              for product in needed]  # fmt: skip
    numbers = map(int, rng.geometric(p2, categories))
    purchase = {name: number + drawn[name].get("min_quantity", 1) - 1
                for name, number in zip(chosen, numbers, strict=True)}  # fmt: skip
    return {"effectiveness": effectiveness, "offers": drawn, "purchase": purchase}


def _prices(rng: np.random.RandomState, kind: str) -> dict[str, Json]:
    def price() -> float:
        return round(rng.uniform(1, 20), 2)

    if kind == "two_part_tariff":
        return {"fixed_cost": price(), "variable_cost": price()}
    return {"cost": price(), **({"min_quantity": rng.randint(2, 10)} if kind == "bulk_discount" else {})}


def tasks(seed: int, workers: int, periods: int, gap: float, lowest_cut: int) -> dict[str, Any]:
    """Draw task allocation's sizes by task, and the workers' productivities.

    Args:
        gap: between the most and the least productive.
        lowest_cut: 1 in the program; 0 when its authors collected their data, so that a task may have size 0.
    """
    rng, total = np.random.RandomState(seed), 60 * periods
    by_worker = []
    for _worker in range(workers):
        drawn = rng.choice(range(lowest_cut, total), size=periods - 1, replace=False)
        cuts = [0, *sorted(map(int, drawn)), total]
        by_worker.append([high - low for low, high in pairwise(cuts)])
    sizes: dict[str, int] = {}
    for period in range(periods):
        names = rng.permutation([f"T{period * workers + i}" for i in range(1, workers + 1)])
        sizes |= {str(name): parts[period] for name, parts in zip(names, by_worker, strict=True)}
    productivities = rng.permutation(np.linspace(10 - gap / 2, 10 + gap / 2, workers))
    return {
        "sizes": sizes,
        "productivities": {f"W{number}": float(value) for number, value in enumerate(productivities, start=1)},
    }
