"""The current status of a study, as shown on its admin page."""

from __future__ import annotations

from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from games.errors import GameError
from opponents.spending import refusal_in_study
from participants.markdown import to_html
from participants.models import ProblemReport
from participants.states import ENDED, State
from plans.asking import AgentSettings
from recruiters.lab_codes import ListedCode, codes_of, with_states
from studies import faults
from studies.costs import Costs, shown_costs
from studies.models import Cell, Placement, Study, Version
from studies.recruiting import AtRecruiter, at_recruiter

CODES_SHOWN = 12
CELLS_SHOWN = 24


@dataclass(frozen=True)
class CellFill:
    """One cell of the latest version: places wanted, held and completed."""

    cell: Cell
    title: str
    held: int
    completed: int

    @property
    def percent(self) -> int:
        return min(100, round(100 * self.held / self.cell.places))


@dataclass(frozen=True)
class LaunchProblem:
    """A reason why a study cannot be launched, and the form field at which it is corrected.

    Attributes:
        label: that of one of the field's own controls; empty for the whole field.
    """

    field: str
    reason: str
    label: str = ""


@dataclass(frozen=True)
class StudyStatus:
    """What the study's page shows above the form.

    Attributes:
        unlaunched: whether the saved settings differ from the launched version.
        problems: why the saved settings cannot be launched, empty if they can.
        warning: what to check in the saved settings although they can be launched; usually empty.
        why_closed: why the launched version admits no participants although it is open; usually empty.
        cap_reached: that a cap has stopped the launched version's models, and the consequences; usually empty.
        costs: of the launched version or the draft; None if it cannot be played.
        recruiter: where it recruits, and what its status asks for there; None if Parley does not know.
        cells: the first CELLS_SHOWN cells of the launched version.
        more_cells: how many more cells there are.
        other_endings: counts of endings other than completing, as [(title, count)].
    """

    join_link: str
    versions: list[Version]
    unlaunched: bool
    problems: list[LaunchProblem]
    arrived: int
    live: int
    completed: int
    other_endings: list[tuple[str, int]]
    cells: list[CellFill]
    more_cells: int
    codes: list[ListedCode]
    codes_created: int
    codes_used: int
    reports: int
    warning: str
    cap_reached: str
    costs: Costs | None
    recruiter: AtRecruiter | None
    why_closed: str
    instructions: list[tuple[str, str]]


def status_of(study: Study, request: HttpRequest) -> StudyStatus:
    """Return the study's current status."""
    versions = list(study.versions.order_by("-number").defer("content"))
    latest = study.latest_version()
    placed = Placement.objects.filter(cell__version__study=study)
    counts = dict(placed.order_by().values_list("enrolment__state").annotate(Count("pk")))
    join_link = request.build_absolute_uri(study.get_absolute_url())
    problems, unlaunched = _launch_problems(study, versions[0] if versions else None)
    codes = codes_of(study.slug)
    return StudyStatus(
        join_link=join_link,
        versions=versions,
        unlaunched=unlaunched,
        problems=problems,
        arrived=sum(counts.values()),
        live=sum(count for state, count in counts.items() if state not in ENDED),
        completed=counts.get(State.COMPLETED, 0),
        other_endings=[
            (str(State(state).label), counts[state])
            for state in State.values
            if state in counts and state in ENDED and state != State.COMPLETED
        ],
        cells=_cells(study, versions[0] if versions else None),
        more_cells=max(0, Cell.objects.filter(version=versions[0]).count() - CELLS_SHOWN) if versions else 0,
        codes=list(with_states(codes[:CODES_SHOWN])),
        codes_created=codes.count(),
        codes_used=codes.filter(used=True).count(),
        reports=ProblemReport.objects.filter(enrolment__placement__cell__version__study=study).count(),
        warning="" if problems else session_warning(study),
        cap_reached=_cap_reached(study, versions[0] if versions else None),
        costs=shown_costs(study),
        recruiter=at_recruiter(study),
        why_closed=faults.why_closed(latest) if latest and study.status == Study.Status.LAUNCHED else "",
        instructions=_instructions(study),
    )


def _launch_problems(study: Study, latest: Version | None) -> tuple[list[LaunchProblem], bool]:
    """Return why the saved settings cannot be launched, and whether launching them would make a new version."""
    try:
        study.full_clean(validate_unique=False)
    except ValidationError as error:
        return [LaunchProblem(_field_of(name), " ".join(reasons)) for name, reasons in error.message_dict.items()], True
    problem = missing_cap(study)
    return (
        [LaunchProblem("agents", problem, AgentSettings.model_fields["cap_study"].title or "")] if problem else [],
        latest is None or sha256_of(content_of(study)) != latest.sha256,
    )


def _field_of(name: str) -> str:
    """Return the form field at which a problem of the study's field `name` is corrected."""
    return {"config": "values_from", "design": "values_from", "session_games": "other_game_2"}.get(name, name)


def session_warning(study: Study) -> str:
    """Return a warning if a session in fixed order is too short to reach every configuration; usually empty.

    Raises:
        GameError: the study cannot be played.
    """
    number = 0 if study.session_games else unreached_configurations(plan_cells(study), study.session())
    if not number:
        return ""
    warning = ngettext(
        "One configuration will never be played, because each session has only {matches} matches in a fixed order.",
        "{number} configurations will never be played, because each session has only {matches} matches in a fixed "
        "order.",
        number,
    )
    advice = _("Increase “Matches per session”, or choose a random order.")
    return f"{warning.format(number=number, matches=study.session_matches)} {advice}"


def _cells(study: Study, latest: Version | None) -> list[CellFill]:
    if latest is None:
        return []
    cells = Cell.objects.filter(version=latest).annotate(
        held=Count("placements", filter=Q(placements__released_at=None)),
        completed=Count(
            "placements", filter=Q(placements__enrolment__state=State.COMPLETED, placements__released_at=None)
        ),
    )
    titles = cell_titles(latest.pk, latest.sha256)
    return [
        CellFill(cell=cell, title=titles[cell.number], held=cell.held, completed=cell.completed)
        for cell in cells.order_by("number")[:CELLS_SHOWN]
    ]


def _cap_reached(study: Study, latest: Version | None) -> str:
    if latest is None:
        return ""
    for agent in latest.agents().values():
        settings = agent.settings
        if agent.scripted:
            continue
        if cap := refusal_in_study(settings.caps(), f"study:{study.slug}"):
            consequence = (
                _(
                    "Model calls have stopped. The scripted player “{name}” moves instead, and its moves are "
                    "flagged in the data."
                )
                if settings.script
                else _("Model calls have stopped. Matches end at the model's next move, and participants are paid.")
            )
            return f"{cap} {consequence.format(name=settings.script)}"
    return ""


def _instructions(study: Study) -> list[tuple[str, str]]:
    """Return the instructions of each role as (role title, HTML); empty if the texts or parameters are invalid."""
    try:
        game = study.configured()
        return [
            (game.role_title(role), to_html(game.instructions(role, study.instructions or None)))
            for role in game.roles()
        ]
    except GameError:
        return []
