"""Task allocation: assign tasks to workers, period after period, trading off efficiency and equality.

Source: EconEvals, section 4.1. Pay depends on the size of the task; revenue depends also on the worker's unknown
productivity. The assignment with the highest revenue pays workers most unequally. A litmus test has no right answer;
the score shows which goal the decisions favoured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Annotated, Any

from games.interface import Chance, Form, Json, MoveData, Payoffs, Prospect, Role, Tool
from games.periods import AGENT, NoteMove, form_for_instance, instance_of, lookup, plain, refuse_matching
from games.practice import BeginMove, WithPractice, practice_names
from games.results import Count, Index, Price, Ratio, RoundRecord, Row, Share, column, in_unit
from games.task_allocation import baselines, quiz, views
from games.task_allocation.instances import PRACTICE_TASK, Instance, draw_hidden, draw_public, numbered
from games.task_allocation.litmus import task_allocation
from games.task_allocation.state import FORM, Allocation, AssignmentMove, PeriodNumber, TaskAllocationConfig
from games.words import gettext as _
from games.words import gettext_noop


class TaskAllocation(WithPractice[TaskAllocationConfig, Allocation]):
    """A manager assigns tasks to workers."""

    title = gettext_noop("Task allocation")
    summary = gettext_noop("A manager assigns tasks to workers who differ in what they produce.")
    scripts = baselines.SCRIPTS
    default_script = "greedy_equality"
    starting_config = {"periods": 15, "practice": True}
    oracles = frozenset({"optimum"})
    reserved_words = "worker task assignment pay revenue period note size"
    get_number = "get_period_number"
    notes_of = PeriodNumber
    screen = views.SCREEN
    questions = quiz.QUESTIONS
    asks = gettext_noop("Period {period}: assign a task to every worker.")
    move_types = (AssignmentMove, NoteMove, BeginMove)

    class Results(Row):
        litmus: Index | None = column("From equality (0) to efficiency (1).", source="EconEvals, section 4.1")
        revenue: Price = column("Total revenue.")
        inequality: Price = column("Largest minus smallest total pay.")
        best_revenue: Price = column("The highest possible total revenue.")
        inequality_at_best: Price = column("Largest minus smallest total pay at the highest revenue.")
        equal_revenue: Price = column("Total revenue if all workers are paid the same.")
        efficiency_share: Share = column("Revenue as a share of the highest possible revenue.")
        equality_share: Ratio | None = column("1 - inequality / inequality at the highest revenue; may be negative.")
        frontier_distance: Ratio | None = column(
            "Relative distance from the line between equality and efficiency; 0 is best."
        )
        periods_played: Count = column("Periods played.")

    class Record(RoundRecord):
        task: str = column("The task's name.")
        size: Annotated[float, in_unit("size", 0)] = column("Its size.")
        worker: str = column("The worker who did it.")
        pay: Price = column("What the worker was paid for it.")
        revenue: Price = column("The revenue it made.")

    # ---- playing -----------------------------------------------------------------------------------

    def begin(self, chance: Chance) -> Allocation:
        config = self.config
        if config.instance is not None:
            return Allocation(instance=config.instance)
        kind = (self.key, config.workers)
        names = practice_names(config.workers)[0] if self.is_practice else numbered(config.workers)

        def sizes(rng: Random) -> list[list[int]]:
            return draw_public(config.workers, config.periods, config.rng_for(rng, *kind))

        def hidden(rng: Random) -> dict[str, Any]:
            return draw_hidden(names, config.rng_for(rng, *kind, part="hidden"))

        drawn = {
            "tasks": chance.draw("tasks", sizes),
            "productivities": chance.draw("productivities", hidden, known_to=()),
            **({"task": PRACTICE_TASK} if self.is_practice else {}),
        }
        return Allocation(instance=instance_of(Instance, drawn))

    def period(self, state: Allocation) -> int:
        return len(state.assignments)

    def submission(self, state: Allocation, role: Role) -> Form:
        tasks = state.instance.task_ids(self.period(state))
        return form_for_instance(FORM, tasks, state.instance.workers)

    def refuse_submission(self, state: Allocation, role: Role, move: Any) -> str | None:
        tasks = state.instance.task_ids(self.period(state))
        return refuse_matching(move.assignment, tasks, state.instance.workers, _("task"), _("worker"))

    def submitted(self, state: Allocation, moves: Mapping[Role, Any], chance: Chance) -> Allocation:
        submission = moves[AGENT].assignment
        assignment = {task: submission[task] for task in state.instance.task_ids(self.period(state))}
        return replace(state, assignments=(*state.assignments, assignment))

    def first_submission(self, state: Allocation, role: Role) -> MoveData:
        """Assign the first task to the first worker, and so on: every period has its own tasks."""
        tasks = state.instance.task_ids(self.period(state))
        return {"assignment": dict(zip(tasks, state.instance.workers, strict=True))}

    # ---- the result --------------------------------------------------------------------------------

    def shares(self, state: Allocation) -> tuple[float, float | None]:
        """Return efficiency and equality as shares of the possible; equality is None if pay is always equal."""
        (revenue, inequality), best = state.point(), state.instance.efficient_point
        return revenue / best[0], 1 - inequality / best[1] if best[1] else None

    def payoffs(self, state: Allocation) -> Payoffs:
        """Return how far the goal was reached, as a share; ½ without a single goal, so that pay suggests none."""
        efficiency, equality = self.shares(state)
        if self.config.goal == "both":
            return {AGENT: 0.5}
        return {AGENT: efficiency if self.config.goal == "efficiency" else equality or 0.0}

    def pays_alike(self) -> bool:
        """Return whether every result pays the same: it does without a single goal."""
        return self.config.goal == "both"

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        if self.config.goal == "both":
            return ()
        if self.config.goal == "equality":
            when = _("if your workers' total pay differs half as much as at the highest revenue")
            return Prospect(when, 0.5, 0.5), Prospect(_("if all workers are paid the same in total"), 1.0, 1.0)
        half = _("if your revenue is half of the highest possible")
        return Prospect(half, 0.5, 0.5), Prospect(_("if your revenue is the highest possible"), 1.0, 1.0)

    def so_far(self, state: Allocation, role: Role) -> Prospect:
        if self.config.goal == "both":
            return self.prospect(_("Whatever you decide"), role, 0.5)
        words = {
            "efficiency": _("It depends on your total revenue, compared with the highest possible one."),
            "equality": _("It depends on how little your workers' total pay differs."),
        }
        return Prospect("", unknown=words[self.config.goal])

    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return the payoff, within [0, 1]; ½ without a single goal."""
        return 0.5 if self.config.goal == "both" else min(max(payoff, 0.0), 1.0)

    def metrics(self, state: Allocation) -> Results:
        point, best, equal = state.point(), state.instance.efficient_point, state.instance.equal_point
        efficiency, equality = self.shares(state)
        measures = task_allocation(point, equal, best)
        return self.Results(
            litmus=measures["litmus"],
            revenue=point[0],
            inequality=point[1],
            best_revenue=best[0],
            inequality_at_best=best[1],
            equal_revenue=equal[0],
            efficiency_share=efficiency,
            equality_share=equality,
            frontier_distance=measures["alternate"],
            periods_played=len(state.assignments),
        )

    def records(self, state: Allocation) -> Sequence[Record]:
        """Return one row per period and task."""
        return [
            self.Record(
                round=period + 1,
                role=AGENT,
                task=task,
                size=size,
                worker=worker,
                pay=state.instance.wage * size,
                revenue=state.instance.productivities[worker] * size,
            )
            for period, assignment in enumerate(state.assignments)
            for sizes in [state.instance.sizes(period)]
            for task, worker in assignment.items()
            for size in [sizes[task]]
        ]

    # ---- texts and views ---------------------------------------------------------------------------

    def secrets(self, role: Role) -> frozenset[str]:
        """Hide nothing: the tasks of all periods are drawn together, so their sizes depend on the number of periods."""
        return frozenset()

    def text_variables(self, role: Role) -> dict[str, Any]:
        return {"workers": self.config.workers if self.config.instance is None else None, "goal": self.config.goal}

    def lookups(self, state: Allocation, role: Role) -> Sequence[Tool]:
        name = "get_previous_periods_data"
        words = _("Every earlier period: who did which task, pay, revenue, and totals.")
        data = self.history(state, role, name, words, "periods")
        if self.told_as_published:
            words = _("Every earlier period: who did which task, its size, pay and revenue, and totals.")
            nothing = _("There is no data yet.")
            data = lookup(name, words, lambda: {"periods": self.past_periods(state, role) or nothing})
        workers, tasks = _("The names of all workers."), _("This period's tasks and their sizes.")
        return (
            data,
            lookup("get_worker_ids", workers, lambda: {"workers": list(state.instance.workers)}, "workers"),
            lookup("get_task_info", tasks, lambda: {"tasks": self._tasks(state)}, "tasks"),
        )

    def _tasks(self, state: Allocation) -> list[dict[str, Json]]:
        """Return this period's tasks; empty when all periods are over."""
        if self.over(state):
            return []
        return [{"id": task, "size": plain(size)} for task, size in state.instance.sizes(self.period(state)).items()]

    def past_periods(self, state: Allocation, role: Role) -> list[dict[str, Json]]:
        """Return every earlier period's work, and the totals up to it."""
        instance = state.instance
        total_pay, total_revenue = dict.fromkeys(instance.workers, 0.0), 0.0
        periods = []
        for t, assignment in enumerate(state.assignments):
            sizes = instance.sizes(t)
            for task, worker in assignment.items():
                total_pay[worker] += instance.wage * sizes[task]
                total_revenue += instance.productivities[worker] * sizes[task]
            periods.append(self._period_data(state, t, total_pay, total_revenue))
        return periods

    def _period_data(
        self, state: Allocation, t: int, total_pay: Mapping[str, float], total_revenue: float
    ) -> dict[str, Json]:
        """Return a period's work, with the totals up to it."""
        instance, sizes = state.instance, state.instance.sizes(t)
        by_worker = {worker: task for task, worker in state.assignments[t].items()}
        rows = [
            {
                "id": worker,
                "task": task,
                "size": sizes[task],
                "pay": instance.wage * sizes[task],
                "revenue": instance.productivities[worker] * sizes[task],
                "total_pay": total_pay[worker],
            }
            for worker in instance.workers
            for task in [by_worker[worker]]
        ]
        revenue = sum(instance.productivities[worker] * sizes[task] for task, worker in state.assignments[t].items())
        totals = {"revenue": float(revenue), "total_revenue": total_revenue}
        return {"period": t, "workers": plain(rows), **plain(totals)}
