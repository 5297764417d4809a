"""The current status of a study, as shown on its admin page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from django.http import HttpRequest
from django.utils.translation import gettext as _

from opponents.spending import refusal_in_study
from participants.models import ProblemReport
from participants.states import ENDED, State
from plans.comparing import compare
from plans.reading import BadPlan, Fault
from recruiters.lab_codes import ListedCode, codes_of, with_states
from studies import faults, opening
from studies.costs import Costs, shown_costs
from studies.launching import faults_of, refuse_unplayable, version_of
from studies.models import Cell, Placement, Study, Version
from studies.recruiting import AtRecruiter, at_recruiter

CODES_SHOWN = 12
CELLS_SHOWN = 24


@dataclass(frozen=True)
class StudyStatus:
    """What the study's page shows above the form.

    Attributes:
        unlaunched: whether the saved settings differ from the launched version.
        draft: the saved settings as a version; None if they have faults.
        problems: why the saved settings cannot be launched, empty if they can.
        why_closed: why the launched version admits no participants although it is open; usually empty.
        cap_reached: that a cap has stopped the launched version's models, and the consequences; usually empty.
        costs: of the launched version or the draft; None if it cannot be played.
        recruiter: where it recruits, and what its status asks for there; None if Parley does not know.
        cells: the first CELLS_SHOWN cells of the launched version, with the places `held` and `completed`.
        more_cells: how many more cells there are.
        other_endings: counts of endings other than completing, as [(title, count)].
        opens, closes: when it does so automatically, if that is still to come; usually empty.
    """

    join_link: str
    versions: list[Version]
    unlaunched: bool
    draft: Version | None
    problems: list[Fault]
    arrived: int
    live: int
    completed: int
    other_endings: list[tuple[str, int]]
    cells: list[dict[str, Any]]
    more_cells: int
    codes: list[ListedCode]
    codes_created: int
    codes_used: int
    reports: int
    cap_reached: str
    costs: Costs | None
    recruiter: AtRecruiter | None
    why_closed: str
    opens: str
    closes: str


def status_of(study: Study, request: HttpRequest) -> StudyStatus:
    """Return the study's current status."""
    versions = list(study.versions.order_by("-number").defer("document"))
    latest = study.latest_version()
    placed = Placement.objects.filter(version__study=study)
    counts = dict(placed.order_by().values_list("enrolment__state").annotate(Count("pk")))
    join_link = request.build_absolute_uri(study.get_absolute_url())
    draft, problems = _draft_of(study)
    unlaunched = draft is None or not versions or bool(compare(versions[0].document, study.draft))
    codes = codes_of(study.slug)
    return StudyStatus(
        join_link=join_link,
        versions=versions,
        unlaunched=unlaunched,
        draft=draft,
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
        codes_used=codes.filter(Q(used=True)).count(),
        reports=ProblemReport.objects.filter(enrolment__placement__version__study=study).count(),
        cap_reached=_cap_reached(study, versions[0] if versions else None),
        costs=shown_costs(study),
        recruiter=at_recruiter(study),
        why_closed=faults.why_closed(latest) if latest and study.status == Study.Status.LAUNCHED else "",
        opens=opening.opens_later(study.entry_rules()) if latest else "",
        closes=opening.closes_later(study.entry_rules()) if latest else "",
    )


def _draft_of(study: Study) -> tuple[Version | None, list[Fault]]:
    """Return the saved draft as a version, or None, and why it cannot be launched."""
    version = None
    try:
        version = version_of(study)
        refuse_unplayable(study, version)
    except (BadPlan, ValidationError) as error:
        return version, faults_of(error)
    return version, []


def _cells(study: Study, latest: Version | None) -> list[dict[str, Any]]:
    if latest is None:
        return []
    shown = Cell.counted(latest).select_related("version")[:CELLS_SHOWN]
    return [{"cell": cell, "percent": min(100, round(100 * cell.held / cell.places))} for cell in shown]


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
