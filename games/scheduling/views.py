"""What a scheduler may know, as blocks: names, own schedules, the reported blocking pairs, and notes."""

from __future__ import annotations

from collections.abc import Sequence

from games.interface import Attempt, Bar, Bars, Block, Fact, Facts, Role, Table, Text
from games.periods import Screen, with_best
from games.practice import Benchmark
from games.scheduling.instances import Pair
from games.scheduling.state import Attempts, SchedulingConfig
from games.words import gettext as _

Scheduling = Benchmark[SchedulingConfig, Attempts]


def _data(game: Scheduling, state: Attempts, role: Role) -> tuple[Block, ...]:
    return _situation(game, state), _history(game, state)


def _news(game: Scheduling, state: Attempts, role: Role) -> tuple[Block, ...]:
    """Return the announcement that the next period is the last one."""
    return (game.status(state),) if not game.over(state) and game.is_last(state) else ()


def _pairs(pairs: Sequence[Pair]) -> str:
    return ", ".join(f"{worker}–{task}" for worker, task in pairs)


def _outcome(game: Scheduling, state: Attempts, role: Role) -> tuple[Block, ...]:
    """Return the reported blocking pairs of the last schedule."""
    reported = state.attempts[-1].told
    if not reported:
        return (Text("outcome", _("Your last schedule has no blocking pair."), tone="good"),)
    template = _("Your last schedule has blocking pairs. Reported: {pairs}.")
    return (Text("outcome", template.format(pairs=_pairs(reported)), tone="notice"),)


def _situation(game: Scheduling, state: Attempts) -> Facts:
    """Return the period, the workers and the tasks."""
    workers, tasks = state.instance.workers, state.instance.tasks
    return Facts(
        "situation",
        _("Where you stand"),
        (
            game.period_fact(state),
            Fact("workers", _("Workers"), len(workers), ", ".join(workers)),
            Fact("tasks", _("Tasks"), len(tasks), ", ".join(tasks)),
        ),
    )


def _history(game: Scheduling, state: Attempts) -> Table:
    """Return every earlier schedule with its reported blocking pairs."""
    rows = tuple(
        (period, _pairs(tuple(attempt.matching.items())), _pairs(attempt.told) or _("none"))
        for period, attempt in enumerate(state.attempts, start=game.first_period)
    )
    columns = (_("Period"), _("Schedule"), _("Reported blocking pairs"))
    return Table("history", _("Your schedules so far"), columns, rows, sortable=True, newest_first=True)


def _attempts(history: Table) -> Sequence[Attempt]:
    """Return the earlier schedules, each with the number of pairs that the reports of all periods show to block it.

    A pair blocks a schedule for certain if the worker and the task have partners in it with whom the pair was reported.
    """
    schedules = [dict(_read(str(schedule))) for _period, schedule, _told in history.rows]
    holders = [{task: worker for worker, task in schedule.items()} for schedule in schedules]
    had: dict[Pair, set[str | None]] = {}
    held: dict[Pair, set[str | None]] = {}
    for (_period, _schedule, told), schedule, holder in zip(history.rows, schedules, holders, strict=True):
        for worker, task in _read(str(told)):
            had.setdefault((worker, task), set()).add(schedule.get(worker))
            held.setdefault((worker, task), set()).add(holder.get(task))
    known = [
        sum(schedule.get(pair[0]) in had[pair] and holder.get(pair[1]) in held[pair] for pair in had)
        for schedule, holder in zip(schedules, holders, strict=True)
    ]
    attempts = [
        Attempt(
            str(period),
            str(schedule),
            ((history.columns[2], str(told)), (_("Known blocking pairs"), str(count))),
        )
        for (period, schedule, told), count in zip(history.rows, known, strict=True)
    ]
    return with_best(attempts, [-count for count in known], _("fewest known blocking pairs"))


def _read(pairs: str) -> list[Pair]:
    """Return the pairs that `_pairs` wrote; none of another text."""
    parts = (pair.partition("–") for pair in pairs.split(", "))
    return [(worker, task) for worker, dash, task in parts if dash]


def _result(game: Scheduling, state: Attempts, role: Role) -> tuple[Block, ...]:
    """Return how the game ended."""
    blocking = state.attempts[-1].blocking
    facts = (
        Fact("stable", _("No blocking pairs left"), blocking == 0, _("yes") if blocking == 0 else _("no")),
        Fact("blocking", _("Blocking pairs in your last schedule"), blocking, str(blocking)),
    )
    return (Facts("result", _("The result"), facts),)


def _bars(game: Scheduling, state: Attempts, role: Role) -> Bars:
    """Return how many pairs of a worker and a task that are not scheduled together block the last schedule."""
    last = state.attempts[-1]
    pairs = len(last.matching) * (len(last.matching) - 1)
    stable = pairs - last.blocking
    return Bars(
        _("Your last schedule"),
        (
            Bar(_("Pairs that do not block it"), str(stable), stable, tone="good"),
            Bar(_("Blocking pairs"), str(last.blocking), last.blocking, tone="bad"),
        ),
        high=pairs,
    )


def _published(game: Scheduling, state: Attempts, role: Role) -> tuple[Block, ...]:
    """Return that this is the last period, if it is."""
    if game.over(state) or not game.is_last(state):
        return ()
    return (
        Text("status", _("This is the last period. Hand in the best assignment you have, with the fewest problems.")),
    )


SCREEN = Screen(_outcome, _result, _data, _bars, _news, published=_published, attempts=_attempts)
