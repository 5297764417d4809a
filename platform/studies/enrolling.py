"""Letting people in: back to where they were, or into the emptiest cell."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _

from games import registry
from participants.models import Enrolment
from participants.services import drop_absent, lifetime
from recruiters.arrivals import Arrival
from recruiters.errors import NotAgain, NotLetIn, UsedCode
from recruiters.models import Identity
from studies import participations, texts
from studies.models import Cell, Placement, Study, Version


class NotOpen(NotLetIn):
    title = _("This study is not open")


class NoSuchRole(NotLetIn):
    title = _("This link does not open the study")


class Full(NotLetIn):
    title = _("All places are taken")


@transaction.atomic
def enrol(study: Study, arrival: Arrival, *, role: str | None = None, again: bool = False) -> Enrolment:
    """The enrolment of whoever arrives: the one they began, or a new one in the emptiest open cell.

    Args:
        role: only cells of this role (demonstrations let people choose).
        again: begin another way where the one before, begun with the same lasting link, has ended.

    Raises:
        NotLetIn: with what to tell the person; nothing was changed.
    """
    known = begun_before(study, arrival)
    if known is not None and not _another(known, arrival, again):
        return _let_back(known, arrival)
    refuse_closed(study)
    participations.lock_worker(arrival)
    version = Version.objects.select_for_update().filter(study=study).order_by("-number").first()
    assert version is not None
    known = begun_before(study, arrival)
    if known is not None and not _another(known, arrival, again):
        return _let_back(known, arrival)
    participations.refuse(version, arrival)
    cell = _place(version, role or arrival.role)
    enrolment = Enrolment.objects.create(
        steps=steps_of(version, cell),
        expires_at=lifetime(version.content["timers"]["minutes"]),
        return_to=arrival.return_to,
    )
    Placement.objects.create(enrolment=enrolment, cell=cell)
    if arrival.proof:
        Identity.objects.create(
            study=study.slug,
            recruiter=arrival.recruiter,
            worker=arrival.worker,
            proof=arrival.proof,
            details=dict(arrival.details),
            occasion=known.identity.occasion + 1 if known is not None else 1,
            enrolment=enrolment,
        )
    return enrolment


def _let_back(known: Enrolment, arrival: Arrival) -> Enrolment:
    """Raises UsedCode when the link opens once and this browser is not the one that began with it."""
    if arrival.once and not constant_time_compare(known.token, arrival.held):
        raise UsedCode
    return known


def begun_before(study: Study, arrival: Arrival) -> Enrolment | None:
    """The way that was begun last with this link."""
    if not arrival.proof:
        return None
    identity = (
        Identity.objects.select_related("enrolment")
        .filter(study=study.slug, recruiter=arrival.recruiter, proof=arrival.proof)
        .order_by("-occasion")
        .first()
    )
    return identity.enrolment if identity else None


def may_begin_again(study: Study, arrival: Arrival) -> bool:
    """Whether the holder of this link, whose way has ended, may begin another one.

    Raises:
        TooSoon: they may, only later.
    """
    version = study.latest_version()
    if not arrival.lasting or version is None or study.status != Study.Status.LAUNCHED:
        return False
    try:
        participations.refuse(version, arrival)
    except NotAgain:
        return False
    return True


def _another(known: Enrolment, arrival: Arrival, again: bool) -> bool:
    return again and arrival.lasting and known.ended


def _place(version: Version, role: str | None) -> Cell:
    """The emptiest open cell; before everybody is sent away, the places of those who are gone are given back."""
    try:
        return emptiest_cell(version, role=role)
    except Full:
        if not drop_absent():
            raise
        return emptiest_cell(version, role=role)


def refuse_closed(study: Study) -> None:
    """Raises NotOpen when nobody new is let in."""
    if study.status != Study.Status.LAUNCHED:
        raise NotOpen(_closed_reason(study))


def _closed_reason(study: Study) -> str:
    if study.status == Study.Status.PAUSED:
        return _("It is paused at the moment. Please try again later with the same link.")
    if study.status == Study.Status.CLOSED:
        return _("It has ended and takes nobody in any more. Thank you for your interest.")
    return _("It has not begun yet. Please try again later with the same link.")


def emptiest_cell(version: Version, *, role: str | None = None) -> Cell:
    """The open cell with the lowest (completed + live) / quota; ties at random from the version's seed.

    Call under the version's lock.

    Raises:
        Full, NoSuchRole
    """
    cells = Cell.objects.filter(version=version, **({"role": role} if role else {})).annotate(
        held=Count("placements", filter=Q(placements__released_at=None))
    )
    if role and not cells.exists():
        raise NoSuchRole(_("The link asks for a role that this study does not have. Please tell who gave it to you."))
    open_cells: Sequence[Any] = [cell for cell in cells.order_by("number") if cell.held < cell.quota]
    if not open_cells:
        raise Full(
            _("All places of this study are taken at the moment. A place may become free: please try again later.")
        )
    lowest = min(cell.held / cell.quota for cell in open_cells)
    tied = [cell for cell in open_cells if cell.held / cell.quota == lowest]
    placed = Placement.objects.filter(cell__version=version).count()
    return Random(f"{version.seed}/{placed}").choice(tied)


def steps_of(version: Version, cell: Cell) -> list[dict[str, Any]]:
    """The way through this version for somebody in this cell, as frozen steps."""
    content = version.content
    game = registry.get(content["game"])
    config = content["configurations"][cell.configuration]
    about = {"game": content["game"], "config": config, "role": cell.role, "texts": content["texts"]}
    reserved = [game.title, *game.own_words, *cell.agents, cell.role, "parley", "player", "opponent"]
    surveys, rule = content.get("surveys", {}), cell.pay()
    met = texts.possible_endings(
        code_word=content["checks"]["code_word"],
        quiz=content["checks"]["quiz"],
        screens=False,  # who reads the instructions has passed those questions
    )
    steps: list[dict[str, Any]] = [
        {"kind": "consent", "text": content["texts"]["consent"], "leaving": texts.leaving_promise(rule)},
        {"kind": "name", "reserved": reserved},
        *({"kind": "survey_before", "questions": asked} for asked in [surveys.get("before")] if asked),
        {
            "kind": "instructions",
            **about,
            "code_word": content["checks"]["code_word"],
            "pay": f"{texts.pay_promise(rule)} {texts.endings_promise(rule, met)}",
        },
        {
            "kind": "match",
            **about,
            "agents": cell.agents,
            "purpose": content["purpose"],
            "timers": content["timers"],
            "budget_of": f"study:{version.study.slug}",
        },
    ]
    if content["checks"]["quiz"]:
        steps.append({"kind": "quiz", **about})
    if asked := surveys.get("after"):
        steps.append({"kind": "survey_after", "questions": asked})
    return steps


def release(enrolment: Enrolment) -> None:
    """Give the place back: somebody else may fill the cell."""
    Placement.objects.filter(enrolment=enrolment, released_at=None).update(released_at=timezone.now())
