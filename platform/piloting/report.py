"""The figures of a pilot, as shown on its page and by its command.

Minutes are estimates for a human participant (`piloting.pace`); money, moves, endings and calls are actual.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean, median
from typing import Any

from django.db.models import Count, Max, Q, Sum

from matches.models import Event, Match
from opponents.models import Call
from participants.states import ENDINGS, State
from piloting.enrolling import role_of, version_of
from piloting.models import Pilot, Walker
from studies.costs import Costs, costs_of_document
from studies.models import Cell

Status, Plan = Walker.Status, Walker.Plan


@dataclass(frozen=True)
class StepTimes:
    """Times of one step, over the participants who completed the study as planned.

    Attributes:
        words: median number of words on the step's page.
        minutes: median minutes per participant; `parts` breaks them down, such as {"reading": 1.2}.
    """

    title: str
    kind: str
    people: int
    words: int
    minutes: float
    parts: dict[str, float]


@dataclass(frozen=True)
class RolePayoffs:
    """The payoffs of the participants in one role."""

    role: str
    payoffs: list[float]

    @property
    def mean(self) -> float:
        return mean(self.payoffs)


@dataclass(frozen=True)
class Bonuses:
    """Bonuses of those who completed, compared with the announced average, in the study's currency.

    Attributes:
        announced: mean of the averages that these participants' cells announced.
        capped: number of participants who got the maximum bonus.
    """

    amounts: list[float]
    mean: float
    announced: float
    capped: int


@dataclass(frozen=True)
class Models:
    """The models' calls and their cost in US dollars.

    Attributes:
        unpriced: calls with unknown price.
        rule_breaks: answers that were not legal moves.
        failed: calls without an answer.
        fallbacks: number of moves made by each fallback, such as "script:fair".
        clock: moves made by the clock for participants.
    """

    calls: int
    cost: float
    unpriced: int
    rule_breaks: int
    failed: int
    slowest: float | None
    matches: int
    cost_per_match: float
    fallbacks: dict[str, int]
    clock: int


@dataclass(frozen=True)
class CellFigures:
    """One cell of the pilot.

    Attributes:
        factors: its levels by factor.
        minutes, bonus: means over its participants who completed; None if there are none.
    """

    number: int
    title: str
    factors: dict[str, str]
    people: int
    completed: int
    minutes: float | None
    bonus: float | None


@dataclass(frozen=True)
class Report:
    """The figures of one pilot.

    Attributes:
        cells_seen: number of cells in which a participant reached an ending.
    """

    people: int
    counts: dict[str, int]
    completed: int
    endings: list[tuple[str, str, int]]
    stuck: list[tuple[str, int]]
    unexpected: list[tuple[int, str, str]]
    steps: list[StepTimes]
    payoffs: list[RolePayoffs]
    bonuses: Bonuses | None
    models: Models
    minutes: float | None
    costs: Costs
    currency: str
    cells_seen: int
    cells: list[CellFigures]

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self), "costs": self.costs.as_dict()}


EXPECTED_ENDINGS: dict[str, frozenset[str]] = {
    Plan.FINISH: frozenset({State.COMPLETED}),
    Plan.WRONG_CODE: frozenset({State.FAILED_CODE_WORD}),
    Plan.SILENT: frozenset({State.TIMED_OUT, State.COMPLETED}),
    Plan.LEAVES: frozenset({State.WITHDREW, State.COMPLETED}),
    Plan.MISREADS: frozenset({State.FAILED_COMPREHENSION}),
    Plan.WRONG_QUIZ: frozenset({State.FAILED_QUIZ}),
}
"""The endings that each plan may lead to. A match may end before a participant can leave it or time out."""


def report(pilot: Pilot) -> Report:
    """Return the pilot's current figures; it may still be running."""
    walkers = list(pilot.walkers.select_related("enrolment").order_by("number"))
    version = version_of(pilot)
    cells = {cell.number: cell for cell in version.planned_cells()}
    completed = [walker for walker in walkers if walker.plan == Plan.FINISH and _state(walker) == State.COMPLETED]
    arrived = [walker for walker in walkers if walker.status == Status.ARRIVED]
    endings = Counter(_state(walker) for walker in arrived)
    steps = _steps(completed)
    return Report(
        people=pilot.people,
        counts={status: sum(walker.status == status for walker in walkers) for status in Status.values},
        completed=endings[State.COMPLETED],
        endings=[(state, str(State(state).label), endings[state]) for state in ENDINGS if endings[state]],
        stuck=Counter(walker.problem for walker in walkers if walker.status == Status.STUCK).most_common(),
        unexpected=[
            (walker.number, str(Plan(walker.plan).label), str(State(_state(walker)).label))
            for walker in arrived
            if _state(walker) not in EXPECTED_ENDINGS[walker.plan]
        ],
        steps=steps,
        payoffs=_payoffs(walkers, cells),
        bonuses=_bonuses(completed, cells),
        models=_models(pilot),
        minutes=sum(step.minutes for step in steps) or None,
        costs=costs_of_document(version.reader, slug=pilot.study.slug),
        currency=version.plan.pay.currency,
        cells_seen=len({walker.cell for walker in arrived}),
        cells=[_cell_figures(cell, walkers, completed) for cell in cells.values()],
    )


def _cell_figures(cell: Cell, walkers: Sequence[Walker], completed: Sequence[Walker]) -> CellFigures:
    completed = [walker for walker in completed if walker.cell == cell.number]
    minutes = [sum(sum(page["estimate"].values()) for page in walker.pages) / 60 for walker in completed]
    return CellFigures(
        number=cell.number,
        title=cell.title,
        factors=dict(cell.factors),
        people=sum(walker.cell == cell.number for walker in walkers),
        completed=len(completed),
        minutes=mean(minutes) if minutes else None,
        bonus=mean(float(walker.owed.get("bonus", 0)) for walker in completed) if completed else None,
    )


def _state(walker: Walker) -> str:
    return walker.enrolment.state if walker.enrolment else ""


def _steps(completed: Sequence[Walker]) -> list[StepTimes]:
    times = []
    for pages in _pages_by_step([walker.pages for walker in completed]):
        names = [name for page in pages for name in page["estimate"]]
        parts = {name: median(page["estimate"].get(name, 0.0) for page in pages) / 60 for name in dict.fromkeys(names)}
        _stage, _dot, levels = pages[0]["stage"].partition(".")
        title = pages[0]["title"]
        times.append(
            StepTimes(
                title=f"{title} ({levels.replace('.', ', ')})" if levels else title,
                kind=pages[0]["kind"],
                people=len(pages),
                words=round(median(page["words"] for page in pages)),
                minutes=median(sum(page["estimate"].values()) for page in pages) / 60,
                parts=parts,
            )
        )
    return times


def _pages_by_step(paths: Sequence[list[dict[str, Any]]]) -> Iterable[list[dict[str, Any]]]:
    """Return, for each step in turn, the pages of all participants who reached it, whatever their order."""
    by_step: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for path in sorted(paths, key=len, reverse=True):
        seen: Counter[tuple[str, str]] = Counter()
        for page in path:
            step = page["kind"], page["stage"]
            seen[step] += 1
            by_step.setdefault((*step, seen[step]), []).append(page)
    return by_step.values()


def _payoffs(walkers: Sequence[Walker], cells: Mapping[int, Cell]) -> list[RolePayoffs]:
    by_role: dict[str, list[float]] = {}
    for walker in walkers:
        if walker.payoff is not None:
            by_role.setdefault(role_of(walker, cells[walker.cell]), []).append(walker.payoff)
    return [RolePayoffs(role, sorted(payoffs)) for role, payoffs in by_role.items()]


def _bonuses(completed: Sequence[Walker], cells: Mapping[int, Cell]) -> Bonuses | None:
    if not completed:
        return None
    amounts = [float(walker.owed.get("bonus", 0)) for walker in completed]
    announced = [float(cells[walker.cell].pay().announced_average) for walker in completed]
    caps = [float(cells[walker.cell].pay().cap) for walker in completed]
    return Bonuses(
        amounts=sorted(amounts),
        mean=mean(amounts),
        announced=mean(announced),
        capped=sum(amount >= cap for amount, cap in zip(amounts, caps, strict=True)),
    )


def _models(pilot: Pilot) -> Models:
    calls = Call.objects.filter(budget_of=pilot.budget)
    totals = calls.aggregate(
        calls=Count("pk"),
        unpriced=Count("pk", filter=Q(cost=None) & ~Q(outcome=Call.Outcome.FAILED)),
        rule_breaks=Count("pk", filter=Q(outcome=Call.Outcome.RULE_BREAK)),
        failed=Count("pk", filter=Q(outcome=Call.Outcome.FAILED)),
        slowest=Max("latency"),
        matches=Count("match_uid", distinct=True),
        spent=Sum("cost"),
    )
    cost = float(totals.pop("spent") or 0)
    pilot_matches = Match.objects.filter(seats__enrolment__walker__pilot=pilot)
    substituted = Event.objects.filter(match__in=pilot_matches, kind="move", data__by__isnull=False)
    substitutes = Counter(event["by"] for event in substituted.values_list("data", flat=True))
    clock = substitutes.pop("clock", 0)
    per_match = cost / totals["matches"] if totals["matches"] else 0.0
    return Models(**totals, cost=cost, cost_per_match=per_match, fallbacks=dict(substitutes), clock=clock)
