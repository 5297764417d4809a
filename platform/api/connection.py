"""Test the connection with an oTree server before it creates a session: the way here, its settings, the way back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from api import delivery, schemas
from api.outcomes import question_of
from recruiters import otree
from recruiters.errors import EntryRefused
from recruiters.models import OtreeServer
from studies import enrolling
from studies.models import Study, Version


def connection_for(token: str) -> schemas.Connection:
    """Return what stands in the way of the session that a signed token describes.

    Claims: `back` (oTree's address), `rounds` (games of each participant), `cells` and `roles` (that the links will ask
    for), `currency`, and `answers` (whether oTree answers requests while it creates the session).

    Raises:
        InvalidToken: the token is forged or has expired.
    """
    question = question_of(token, audience=otree.CONNECTION)
    study = Study.objects.get(slug=question.study)
    problems = [*_problems_of_the_study(study, question.claims), *_problems_of_the_way_back(question)]
    return schemas.Connection(problems=problems)


def _problems_of_the_study(study: Study, claims: Mapping[str, Any]) -> Iterator[str]:
    version = study.latest_version()
    if version is None or study.status != Study.Status.LAUNCHED:
        yield _("The study “{slug}” is not open: launch or resume it in Parley.").format(slug=study.slug)
        return
    if study.entry != Study.Entry.OTREE:
        yield _("In Parley, choose “an oTree experiment” as the entry of the study “{slug}”.").format(slug=study.slug)
    yield from _problems_of_the_links(version, claims)
    currency = version.plan.pay.currency
    if claims.get("currency") != currency:
        yield _("The study pays in {currency}: REAL_WORLD_CURRENCY_CODE in settings.py must be the same.").format(
            currency=currency
        )
    limits, rounds = study.entry_rules(), claims.get("rounds", 1)
    if version.purpose != "study":
        return
    if limits.participations is not None and limits.participations < rounds:
        yield _(
            "Participants play {rounds} times in this session, but the study lets each person take part {most} times: "
            "raise “sessions per participant” to {rounds}, and launch the study again."
        ).format(rounds=rounds, most=limits.participations)
    if limits.rest_hours and rounds > 1:
        yield _("Set “hours between sessions” of the study to 0: participants play {rounds} times.").format(
            rounds=rounds
        )


def _problems_of_the_links(version: Version, claims: Mapping[str, Any]) -> Iterator[str]:
    numbers = claims.get("cells") or [cell.number for cell in version.cells.all()]
    people = {role for cell in version.cells.filter(number__in=numbers) for role in cell.people}
    for role in claims.get("roles", []):
        if role not in people:
            yield _("There is no role “{role}” for participants (parley_roles); there is {roles}.").format(
                role=role, roles=", ".join(sorted(people)) or "–"
            )
    for number in claims.get("cells", []):
        try:
            enrolling.refuse_unknown_cell(version, number)
        except EntryRefused:
            yield _("The study has no cell {number} (parley_cells). Its last one is {last}.").format(
                number=number, last=version.cells.count()
            )


def _problems_of_the_way_back(question: otree.Question) -> Iterator[str]:
    server: OtreeServer = question.server
    address = str(question.claims.get("back", "")).rstrip("/")
    if address not in server.allowed():
        yield _(
            "OTREE_URL is {address}, which is not an address of the study's oTree server in Parley ({allowed})."
        ).format(address=address, allowed=", ".join(server.allowed()))
        return
    if not server.sealed_rest_key or not question.claims.get("answers"):
        return
    try:
        delivery.call(server, f"{address}{otree.VERSION_PATH}")
    except delivery.DeliveryFailed as failure:
        yield _("Parley cannot send results to {address}. {reason}").format(address=address, reason=failure)
