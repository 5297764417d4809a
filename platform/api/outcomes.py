"""Where participants are, and how they fared, for the oTree server that sent them."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from api import schemas
from api.errors import InvalidToken
from api.reading import reading_of
from exports.participants import Participant, PlayedMatch
from lobby import services as lobby
from lobby.models import Place
from lobby.step import status_of
from participants.models import Enrolment
from recruiters import otree
from recruiters.errors import EntryRefused
from recruiters.models import Identity
from studies.models import Study


def outcome_for(token: str) -> schemas.Outcome:
    """Return the outcome that a signed token asks for; pending until the participant's enrolment ends.

    oTree asks when it shows the participant's page, so a participant whose waiting time is over counts as back.

    Raises:
        InvalidToken: the token is forged or has expired.
    """
    question = question_of(token, audience=otree.RESULT)
    identities = Identity.objects.select_related("enrolment").filter(
        study=question.study, recruiter=otree.KIND, proof=question.subject
    )
    identity = identities.first()
    if identity is None:
        return schemas.Outcome(state="pending")
    person = identity.enrolment
    place = _place_in_lobby(person)
    if place is not None and place.group is None and lobby.has_waited(place):
        lobby.mark_present(place)
        person.refresh_from_db()
    return outcome_of(Study.objects.get(slug=question.study), person)


def question_of(token: str, *, audience: str) -> otree.Question:
    """Return what a signed request is about.

    Raises:
        InvalidToken: the token is forged or has expired.
    """
    try:
        return otree.question_of(token, audience=audience)
    except EntryRefused as refusal:
        raise InvalidToken(_("Invalid token: {reason}").format(reason=refusal.title)) from None


def outcome_of(study: Study, person: Enrolment) -> schemas.Outcome:
    """Return how the enrolment ended and the amount owed, in whole cents; pending until it ends."""
    reading = reading_of(study)
    participant = Participant(reading, reading.placements().get(enrolment=person))
    cell = participant.cell.number if participant.cell else None
    join_key: dict[str, Any] = {"participant": person.pseudonym, "cell": cell}
    if not person.ended:
        return schemas.Outcome(state="pending", **join_key)
    owed_cents = participant.owed or {}
    return schemas.Outcome(
        state="finished",
        **join_key,
        ending=person.state,
        role=participant.role_in(participant.matches[-1] if participant.matches else None),
        base_cents=owed_cents.get("base", 0),
        bonus_cents=owed_cents.get("bonus", 0),
        payoff_cents=sum(owed_cents.values()),
        currency=participant.placement.pay().currency,
        matches=[_match(participant, played) for played in participant.matches],
    )


def _match(participant: Participant, played: PlayedMatch) -> schemas.MatchOutcome:
    role = participant.role_in(played)
    return schemas.MatchOutcome(
        match=played.match.uid,
        game=played.match.game,
        role=role,
        opponents=played.opponents_of(role),
        payoff=(played.match.payoffs or {}).get(role),
        moved_by=played.moved_for(role),
        turns=[schemas.TurnOut.of(decision, number=decision.move_number) for decision in played.decisions],
    )


def progress_for(token: str) -> schemas.SessionProgress:
    """Return where everyone is whom a session of oTree has sent to the study.

    Raises:
        InvalidToken: the token is forged or has expired.
    """
    question = question_of(token, audience=otree.PROGRESS)
    identities = Identity.objects.select_related("enrolment").filter(
        study=question.study, recruiter=otree.KIND, details__session=question.claims.get("session")
    )
    return schemas.SessionProgress(
        participants={identity.proof: _progress(identity.enrolment) for identity in identities}
    )


def _progress(person: Enrolment) -> schemas.Progress:
    place = _place_in_lobby(person)
    waiting = status_of(place) if place is not None else {}
    return schemas.Progress(
        state=person.state, ended=person.ended, missing=waiting.get("missing"), seconds=waiting.get("remaining")
    )


def _place_in_lobby(person: Enrolment) -> Place | None:
    """Return the place in which the participant waits; None if they don't."""
    if person.ended:
        return None
    places = Place.objects.select_related("enrolment", "group").filter(lobby.WAITING)
    return places.filter(enrolment=person, step=person.position).first()
