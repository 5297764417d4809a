"""What a researcher should have done before launching: each point with its state and the button that does it.

A point is done for the settings that it was done with: it opens again when they change. The audit log keeps who did it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import gettext as _

from audit import services as audit
from audit.actions import Action
from audit.models import Record
from games.interface import Json
from llm_agents.agent import PROGRAM
from llm_agents.endpoints import endpoint
from llm_agents.errors import AgentError
from opponents import spending
from opponents.trying import try_out
from plans import guard
from plans.canonical import canonical, sha256_of, version_hash
from programs.turns import silence_of
from studies.costs import Costs
from studies.models import Study, Version

MAX_WARNINGS = 5
"""Warnings that are written out."""


@dataclass(frozen=True)
class Point:
    """One point of the checklist.

    Attributes:
        detail: what there is to see, such as an amount.
        button: the words on its button; empty if there is nothing to press.
        facts: the settings that it concerns.
        leads_to: the page that the button opens; empty for the study's own.
    """

    name: str
    title: str
    detail: str
    button: str
    facts: Json
    leads_to: str = ""
    done: bool = False


def checklist(study: Study, request: HttpRequest, version: Version | None, costs: Costs | None) -> list[Point]:
    """Return the points of a study; none if its draft has faults.

    Args:
        version: the draft as a version; None if it has faults.
        costs: None if it cannot be played.
    """
    if version is None:
        return []
    page = reverse("admin:studies_study_change", args=[study.pk])
    models = sorted(
        {spec for agent in version.agents().values() for spec in agent.specs if not spec.startswith("script:")}
    )
    document = canonical(study.draft)
    consent: dict[str, Any] = next((stage for stage in document["journey"] if stage["stage"] == "consent"), {})
    points = [
        Point(
            "agents",
            _("Agents answer"),
            ", ".join(models) or _("Scripted players always answer."),
            _("Ask them") if models else "",
            models,
            done=not models,
        ),
        Point(
            "walk", _("Walk through"), _("As a participant sees it"), _("Walk through"), version.sha256, _walk(study)
        ),
        Point(
            "pilot",
            _("Pilot"),
            _("Simulated participants"),
            _("Go to pilots"),
            None,
            f"{page}#pilots",
            study.pilots.filter(status="done", sha256=version_hash(document)).exists(),
        ),
        Point("pay", _("Pay"), costs.hourly_sentence if costs else "", _("Seen"), document.get("pay"), f"{page}#pay"),
        Point("cost", _("Worst case"), costs.total_sentence if costs else "", _("Seen"), costs and costs.rows, page),
        _reading(document),
        Point("ethics", _("Ethics text"), _("The consent page"), _("Read it"), consent, f"{page}#stage/journey.0"),
    ]
    if study.status == Study.Status.LAUNCHED:
        link = request.build_absolute_uri(study.get_absolute_url())
        points.append(Point("link", _("The link works"), link, _("Open the link"), [study.slug, version.sha256], link))
    seen = set(
        Record.objects.filter(action=Action.SEEN, kind=study._meta.label_lower, key=str(study.pk)).values_list(
            "details__point", "details__sha256"
        )
    )
    return [replace(point, done=point.done or (point.name, sha256_of(point.facts)) in seen) for point in points]


def tick(study: Study, point: Point, user: User | AnonymousUser) -> str:
    """Record that the user has seen this point; return why it is not done, usually nothing."""
    problem = _unanswered(point.facts) if point.name == "agents" else ""
    if not problem and not point.done:
        audit.record(
            action=Action.SEEN,
            user=user,
            target=study,
            details={"point": point.name, "sha256": sha256_of(point.facts)},
        )
    return problem


def _reading(document: dict[str, Json]) -> Point:
    """Return the point about what participants read: done if nothing is doubtful."""
    found = guard.warnings(document)
    detail = " ".join(map(str, found[:MAX_WARNINGS])) or _(
        "Nothing names the question, a raw name or an unkept promise."
    )
    if len(found) > MAX_WARNINGS:
        detail += " " + _("And {number} more.").format(number=len(found) - MAX_WARNINGS)
    return Point("words", _("What participants read"), detail, _("Seen"), list(map(str, found)), done=not found)


def _walk(study: Study) -> str:
    try:
        return reverse("walking:start", args=[study.pk])
    except NoReverseMatch:
        return ""


def _unanswered(models: Any) -> str:
    """Ask every model a short question; return which did not answer, and which programs are not there, and why."""
    if reached := spending.cap_of_today():
        return str(reached)
    problems = []
    for spec in models:
        name, _colon, model = spec.partition(":")
        if name == PROGRAM:
            problems += [f"{spec}: {problem}"] if (problem := silence_of(model)) else []
            continue
        try:
            trial = try_out(endpoint(name), model)
        except AgentError as error:
            problems.append(f"{spec}: {error}")
        else:
            problems += [f"{spec}: {trial.problem}"] if trial.problem else []
    return " ".join(problems)
