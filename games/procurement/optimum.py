"""The exact optimal plan, computed with an open-source solver (HiGHS).

Maximises Σ (1/k) ln S_i over integer quantities, where S_i is the effective units of category i. ln is replaced by
its chords between neighbouring integers, y ≤ ln t + (S - t)·ln((t+1)/t) for t = 1, 2, …; this is exact because S is
always an integer. Chords are added wherever the current solution exceeds them. The linear relaxation takes
milliseconds and shows where chords are needed. They are added densely there before quantities must be integers, so
that few integer programs have to be solved. Each starts from the best plan so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import floor, log
from threading import Lock
from typing import Any

import highspy

from games.procurement.instances import BUDGET_TOLERANCE, Instance, Offer

CHORD_GROWTH = 2
"""Ratio between the points of a model's initial chords."""
CHORD_TOLERANCE = 1e-9
"""Rounding tolerance for a solution above a chord."""
CHORD_MULTIPLES = (0.7, 0.8, 0.88, 0.93, 0.96, 0.98, 0.99, 0.995, 1.005, 1.01, 1.02, 1.04, 1.07, 1.12, 1.2, 1.35)
"""Multiples of the relaxation's effective units at which chords are added."""
DISABLED_HEURISTICS = ("mip_heuristic_run_rins", "mip_heuristic_run_rens", "mip_heuristic_run_root_reduced_cost")
"""HiGHS heuristics that are switched off because they take longer than they save here."""


def optimum(instance: Instance) -> tuple[float, dict[str, int]]:
    """Return the most workers that a feasible plan supports, and such a plan; 0 and {} if there is none."""
    with _solver_lock:
        return _solve(instance.model_dump_json())


_solver_lock = Lock()
"""Makes callers wait for an instance that is being solved instead of solving it twice."""


# Cached: computed before a match is opened, and needed again while it opens (`Procurement.slow_setup`).
@lru_cache(maxsize=256)
def _solve(instance_json: str) -> tuple[float, dict[str, int]]:
    instance = Instance.model_validate_json(instance_json)
    model = _Model(instance)
    plan = model.best()
    if plan is None:
        return 0.0, {}
    return instance.workers(plan), plan


class _Model:
    """The integer program, with its chords so far.

    Columns: a quantity per offer; whether the offer is bought, if that matters; effective units and their
    logarithm per category.
    """

    def __init__(self, instance: Instance):
        self._instance = instance
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._solver.setOptionValue("output_flag", False)
        self._solver.setOptionValue("mip_rel_gap", 0.0)
        self._solver.setOptionValue("mip_abs_gap", 1e-9)
        self._solver.setOptionValue("mip_feasibility_tolerance", 1e-9)
        self._solver.setOptionValue("primal_feasibility_tolerance", 1e-9)
        self._solver.setOptionValue("dual_feasibility_tolerance", 1e-9)
        for heuristic in DISABLED_HEURISTICS:
            self._solver.setOptionValue(heuristic, False)
        self._solver.setOptionValue("threads", 1)
        self._solver.setOptionValue("random_seed", 0)
        self._quantity: dict[str, int] = {}
        self._columns = 0
        costs: list[tuple[int, float]] = []
        for offer in instance.offers:
            max_units = _max_units(offer, instance.budget)
            column = self._quantity[offer.id] = self._add_integer(0, max_units)
            costs.append((column, offer.price))
            if offer.minimum or offer.upfront:
                bought = self._add_integer(0, 1)
                costs.append((bought, offer.upfront or 0.0))
                self._add_row([(column, 1.0), (bought, -float(max_units))], upper=0.0)
                if offer.minimum:
                    self._add_row([(column, 1.0), (bought, -float(offer.minimum))], lower=0.0)
        self._add_row(costs, upper=instance.budget + BUDGET_TOLERANCE)
        self._units, self._logs = [], []
        for category in instance.categories:
            effective = {offer.id: _effective_units(offer, instance, category) for offer in instance.offers}
            ceiling = sum(
                value * _max_units(offer, instance.budget)
                for offer in instance.offers
                if (value := effective[offer.id])
            )
            units, logarithm = self._add_continuous(1, max(ceiling, 1)), self._add_continuous(0, log(max(ceiling, 1)))
            self._add_row(
                [
                    (units, -1.0),
                    *((self._quantity[name], float(weight)) for name, weight in effective.items() if weight),
                ],
                0.0,
                0.0,
            )
            self._solver.changeColCost(logarithm, 1 / len(instance.categories))
            self._units.append(units)
            self._logs.append(logarithm)
        self._chords: set[tuple[int, int]] = set()
        for i in range(len(self._units)):
            t = 1
            while t <= self._solver.getLp().col_upper_[self._units[i]]:
                self._add_chord(i, t)
                t = max(t + 1, int(t * CHORD_GROWTH))
        self._solver.changeObjectiveSense(highspy.ObjSense.kMaximize)

    def best(self) -> dict[str, int] | None:
        """Return the best plan; None if no plan serves every category."""
        self._solver.setOptionValue("solve_relaxation", True)
        relaxed = self._solve_with_chords()
        if relaxed is None:
            return None
        for i, units in enumerate(self._units):
            for t in {max(1, int(relaxed[units] * multiple)) for multiple in CHORD_MULTIPLES}:
                if (i, t) not in self._chords:
                    self._add_chord(i, t)
        self._solver.setOptionValue("solve_relaxation", False)
        values = self._solve_with_chords()
        if values is None:
            return None
        plan = {name: round(values[column]) for name, column in self._quantity.items()}
        return {name: quantity for name, quantity in plan.items() if quantity}

    def _solve_with_chords(self) -> list[float] | None:
        """Return a solution that satisfies every chord; None if there is no solution."""
        while True:
            values = self._solution()
            if values is None:
                return None
            missing = [chord for chord in self._violated_chords(values) if chord not in self._chords]
            if not missing:
                return values
            for i, t in missing:
                self._add_chord(i, t)
            self._start_from(values)

    def _start_from(self, values: list[float]) -> None:
        """Start the next integer program from this plan, with the exact logarithms of its quantities."""
        start = highspy.HighsSolution()
        for units, logarithm in zip(self._units, self._logs, strict=True):
            values[logarithm] = log(max(1.0, values[units]))
        start.col_value = values
        self._solver.setSolution(start)

    def _solution(self) -> list[float] | None:
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return None
        return list(self._solver.getSolution().col_value)

    def _violated_chords(self, values: list[float]) -> Iterator[tuple[int, int]]:
        """Yield the chords that the solution exceeds around its effective units."""
        for i, (units, logarithm) in enumerate(zip(self._units, self._logs, strict=True)):
            effective = values[units]
            for t in {max(1, floor(effective + CHORD_TOLERANCE)), max(1, floor(effective + CHORD_TOLERANCE) - 1)}:
                if values[logarithm] > log(t) + (effective - t) * log((t + 1) / t) + CHORD_TOLERANCE:
                    yield i, t

    def _add_chord(self, i: int, t: int) -> None:
        """Add the constraint y ≤ ln t + (S - t)·ln((t+1)/t)."""
        self._chords.add((i, t))
        slope = log((t + 1) / t)
        self._add_row([(self._logs[i], 1.0), (self._units[i], -slope)], upper=log(t) - t * slope)

    def _add_integer(self, lower: float, upper: float) -> int:
        column = self._add_continuous(lower, upper)
        self._solver.changeColIntegrality(column, highspy.HighsVarType.kInteger)
        return column

    def _add_continuous(self, lower: float, upper: float) -> int:
        self._solver.addVar(float(lower), float(upper))
        self._columns += 1
        return self._columns - 1

    def _add_row(
        self, terms: list[tuple[int, float]], lower: float = -highspy.kHighsInf, upper: float = highspy.kHighsInf
    ) -> None:
        columns = [column for column, _weight in terms]
        self._solver.addRow(lower, upper, len(terms), columns, [weight for _column, weight in terms])


def _max_units(offer: Offer, budget: float) -> int:
    """Return the most units of one offer that the budget buys."""
    units = max(0, floor((budget + BUDGET_TOLERANCE - (offer.upfront or 0.0)) / offer.price))
    return units if units >= (offer.minimum or 0) else 0


def _effective_units(offer: Offer, instance: Instance, category: tuple[str, ...]) -> int:
    """Return the effective units of a category in one unit of the offer."""
    return sum(instance.effectiveness[name] * number for name, number in offer.contents.items() if name in category)
