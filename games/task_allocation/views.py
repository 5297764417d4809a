"""What a manager may know, as blocks: this period's tasks, workers' pay and revenue so far, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from games.interface import Attempt, Bar, Bars, Block, Fact, Facts, Role, Table, Text
from games.periods import Screen, as_number, shown, two_decimals, with_best
from games.practice import WithPractice
from games.task_allocation.state import Allocation, TaskAllocationConfig
from games.words import gettext as _

TaskAllocation = WithPractice[TaskAllocationConfig, Allocation]


def _data(game: TaskAllocation, state: Allocation, role: Role) -> tuple[Block, ...]:
    return _tasks(game, state), _workers(game, state), _history(game, state)


def _not_in_tools(game: TaskAllocation, state: Allocation, role: Role) -> tuple[Block, ...]:
    """Return what no tool shows: the period and the revenue so far."""
    return (_situation(game, state),)


def _news(game: TaskAllocation, state: Allocation, role: Role) -> tuple[Block, ...]:
    """Return the totals, and the new tasks while the game lasts."""
    return (_workers(game, state),) if game.over(state) else (_workers(game, state), _tasks(game, state))


def _revenue(state: Allocation, period: int) -> float:
    sizes, productivities = state.instance.sizes(period), state.instance.productivities
    return sum(sizes[task] * productivities[worker] for task, worker in state.assignments[period].items())


def _outcome(game: TaskAllocation, state: Allocation, role: Role) -> tuple[Block, ...]:
    """Return the revenue of the last period."""
    template = _("Last period's revenue was {revenue}.")
    revenue = _revenue(state, len(state.assignments) - 1)
    return (Text("outcome", template.format(revenue=game.money(revenue))),)


def _situation(game: TaskAllocation, state: Allocation) -> Facts:
    """Return the period and the revenue so far."""
    revenue = sum(_revenue(state, t) for t in range(len(state.assignments)))
    return Facts(
        "situation",
        _("Where you stand"),
        (
            game.period_fact(state),
            Fact("revenue", _("Total revenue so far"), two_decimals(revenue), game.money(revenue)),
        ),
    )


def _tasks(game: TaskAllocation, state: Allocation) -> Table:
    """Return this period's tasks."""
    sizes = {} if game.over(state) else state.instance.sizes(game.period(state))
    rows = tuple((task, shown(size)) for task, size in sizes.items())
    return Table("tasks", _("This period's tasks"), (_("Task"), _("Size")), rows)


def _workers(game: TaskAllocation, state: Allocation) -> Table:
    """Return every worker's pay and revenue so far."""
    sizes, revenues = state.totals()
    rows = tuple(
        (worker, shown(state.instance.wage * sizes[worker]), shown(revenues[worker]))
        for worker in state.instance.workers
    )
    columns = (_("Worker"), _("Total pay"), _("Total revenue"))
    return Table("workers", _("Your workers"), columns, rows)


def _history(game: TaskAllocation, state: Allocation) -> Table:
    """Return every earlier task."""
    rows = tuple(
        (
            period,
            worker,
            task,
            shown(sizes[task]),
            shown(state.instance.wage * sizes[task]),
            shown(sizes[task] * state.instance.productivities[worker]),
        )
        for period, assignment in enumerate(state.assignments, start=game.first_period)
        for sizes in [state.instance.sizes(period - game.first_period)]
        for task, worker in assignment.items()
    )
    columns = (_("Period"), _("Worker"), _("Task"), _("Size"), _("Pay"), _("Revenue"))
    return Table("history", _("Work so far"), columns, rows, sortable=True, newest_first=True, folds=True)


def _attempts(history: Table) -> Sequence[Attempt]:
    """Return the earlier periods, with the size of each worker's task: every period has tasks of its own.

    Revenue per size compares periods with different tasks; the gap is that of total pay, after the period.
    """
    attempts, per_size, narrowed = [], [], []
    total_pay: dict[str, float] = {}
    gap = 0.0
    for period, rows in groupby(history.rows, key=itemgetter(0)):
        sizes, revenue = {}, 0.0
        for _period, worker, _task, size, pay, made in (map(str, row) for row in rows):
            sizes[worker] = size
            revenue += as_number(made) or 0.0
            total_pay[worker] = total_pay.get(worker, 0.0) + (as_number(pay) or 0.0)
        before, gap = gap, max(total_pay.values()) - min(total_pay.values())
        per_size.append(revenue / sum(as_number(size) or 0.0 for size in sizes.values()))
        narrowed.append(before - gap if gap < before else None)
        facts = (
            (history.columns[5], shown(revenue)),
            (_("Revenue per size"), shown(per_size[-1])),
            (_("Pay gap"), shown(gap)),
        )
        entries = ", ".join(f"{worker}: {size}" for worker, size in sorted(sizes.items()))
        attempts.append(Attempt(str(period), entries, facts))
    marked = with_best(attempts, per_size, _("most revenue per size"))
    return with_best(marked, narrowed, _("narrowed the pay gap most"))


def _result(game: TaskAllocation, state: Allocation, role: Role) -> tuple[Block, ...]:
    """Return how the game ended."""
    revenue, inequality = state.point()
    facts = (
        Fact("total_revenue", _("Total revenue"), revenue, game.money(revenue)),
        Fact("inequality", _("Highest minus lowest total pay"), inequality, game.money(inequality)),
    )
    return (Facts("result", _("The result"), facts),)


def _bars(game: TaskAllocation, state: Allocation, role: Role) -> Bars:
    """Return what every worker was paid in total."""
    sizes, _revenues = state.totals()
    pay = {worker: state.instance.wage * size for worker, size in sizes.items()}
    return Bars(
        _("What each worker was paid"), tuple(Bar(worker, game.money(amount), amount) for worker, amount in pay.items())
    )


SCREEN = Screen(_outcome, _result, _data, _bars, _news, _not_in_tools, attempts=_attempts)
