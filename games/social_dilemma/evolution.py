"""Meta-games between types of players: replicator dynamics and deviation ratings (CoopEval)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations_with_replacement, permutations, product
from statistics import fmean
from typing import Any

MIN_SHARE = 1e-6
"""The stopping rule ignores types whose share is below this."""
TIGHT_TOLERANCE = 1e-7


def meta_game(outcomes: Iterable[tuple[Sequence[str], Sequence[float]]], types: Sequence[str]) -> Any | None:
    """Return a tournament's mean payoffs as a symmetric game between types, U[own, other, …] (CoopEval, section 4).

    Payoffs are averaged over repetitions of the same types in the same seats, and then over the types' seat orders.

    Args:
        outcomes: for each match, the types in its seats and their payoffs; all with the same number of seats.
        types: every type that occurs, in the desired order.

    Returns:
        an array with one dimension per seat; None if there are no matches or if some types have not met.
    """
    import numpy as np

    played: dict[tuple[str, ...], list[Sequence[float]]] = defaultdict(list)
    for seated, points in outcomes:
        played[tuple(seated)].append(points)
    if not played:
        return None
    seats = len(next(iter(played)))
    means = {profile: np.mean(np.asarray(rows, dtype=float), axis=0) for profile, rows in played.items()}
    payoffs = np.full((len(types),) * seats, np.nan)
    for profile in product(range(len(types)), repeat=seats):
        payoffs_by_order = []
        for order in permutations(range(seats)):
            seating = tuple(types[profile[player]] for player in order)
            if seating in means:
                payoffs_by_order.append(float(means[seating][order.index(0)]))
        if not payoffs_by_order:
            return None
        payoffs[profile] = fmean(payoffs_by_order)
    return payoffs


def replicator_path(
    U: Sequence[Any], eta: float = 0.1, steps: int = 1000, tolerance: float = 1e-6
) -> Iterator[tuple[Any, Any]]:
    """Yield (population, fitness), as arrays by type, before the first step of the dynamics and after each step."""
    import numpy as np

    payoffs = np.asarray(U, dtype=float)
    x = np.full(len(payoffs), 1 / len(payoffs))
    for step in range(steps + 1):
        fitness = _fitness(payoffs, x)
        yield x, fitness
        gains = fitness - float(x @ fitness)
        if step == steps or np.max(np.abs(gains[x > MIN_SHARE])) < tolerance:
            return
        x = x * np.exp(eta * gains)
        x = x / x.sum()


def _fitness(payoffs: Any, x: Any) -> Any:
    fitness = payoffs
    while fitness.ndim > 1:
        fitness = fitness @ x
    return fitness


def deviation_ratings(U: Sequence[Any]) -> list[float]:
    """Return the lexicographic minimum of deviation gains over joint distributions (Marris et al. 2025).

    Over distributions σ of profiles with equal gains for every seat, minimise the largest gain from deviating to a
    fixed strategy, Σ σ(a)[U(s, a₋) - U(a)]; fix the strategies whose gain equals the optimum in *every* optimal σ;
    repeat with the others. A strategy's rating is its gain.

    Args:
        U: payoffs U[own, other, …] of a symmetric game.
    """
    import numpy as np

    payoffs = np.asarray(U, dtype=float)
    strategies = len(payoffs)
    # By symmetry, σ can be taken as symmetric: one profile stands for all its orders, equally likely; seat 1 deviates.
    profiles = list(combinations_with_replacement(range(strategies), payoffs.ndim))
    gains = np.array([[_mean_gain(payoffs, profile, s) for profile in profiles] for s in range(strategies)])
    scale = max(1.0, float(np.abs(gains).max()))  # the solver's tolerances are absolute
    gains = gains / scale
    fixed: dict[int, float] = {}
    while len(fixed) < strategies:
        free = [s for s in range(strategies) if s not in fixed]
        best = _minimise(gains, free, fixed, None, None)
        tight = [s for s in free if _minimise(gains, free, fixed, best, s) >= best - TIGHT_TOLERANCE]
        for s in tight or free[:1]:
            fixed[s] = best
    return [fixed[s] * scale for s in range(strategies)]


def _mean_gain(payoffs: Any, profile: tuple[int, ...], s: int) -> float:
    """Return what seat 1 gains by playing s instead, over all orders of the profile."""
    orders = set(permutations(profile))
    return float(sum(payoffs[(s, *order[1:])] - payoffs[order] for order in orders) / len(orders))


def _minimise(gains: Any, free: list[int], fixed: dict[int, float], ceiling: float | None, target: int | None) -> float:
    """Return the smallest possible maximum gain of the free strategies or, below a ceiling, of one strategy alone."""
    import highspy
    import numpy as np

    solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("primal_feasibility_tolerance", 1e-10)
    solver.setOptionValue("dual_feasibility_tolerance", 1e-10)
    profiles, infinity = gains.shape[1], highspy.kHighsInf
    for _profile in range(profiles):
        solver.addVar(0.0, 1.0)
    solver.addVar(-infinity, infinity)
    columns = np.arange(profiles, dtype=np.int32)
    solver.addRow(1.0, 1.0, profiles, columns, np.ones(profiles))
    for s in range(len(gains)):
        bound = fixed.get(s)
        if bound is not None:
            solver.addRow(-infinity, bound + 1e-9, profiles, columns, gains[s])
        elif ceiling is not None:
            solver.addRow(-infinity, ceiling + 1e-9, profiles, columns, gains[s])
        if s == target or (target is None and s in free):
            with_z = np.append(columns, np.int32(profiles))
            solver.addRow(-infinity, 0.0, profiles + 1, with_z, np.append(gains[s], -1.0))
    solver.changeColCost(profiles, 1.0)
    solver.run()
    return float(solver.getInfo().objective_function_value)
