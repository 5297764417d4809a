"""A participant's outcome, for the outside system that sent the participant."""

from __future__ import annotations

from django.utils.translation import gettext as _

from api import schemas
from api.errors import InvalidToken
from api.reading import reading_of
from exports.participants import Participant, PlayedMatch
from participants.models import Enrolment
from recruiters import otree
from recruiters.errors import EntryRefused
from recruiters.models import Identity
from studies.models import Study

_PENDING = schemas.Outcome(state="pending")


def outcome_for(token: str) -> schemas.Outcome:
    """Return the outcome that a signed token asks for; pending until the participant's enrolment ends.

    Raises:
        InvalidToken: the token is forged or has expired.
    """
    try:
        question = otree.question_of(token)
    except EntryRefused as refusal:
        raise InvalidToken(_("Invalid result token: {reason}").format(reason=refusal.title)) from None
    identities = Identity.objects.select_related("enrolment").filter(
        study=question.study, recruiter=otree.KIND, proof=question.subject
    )
    identity = identities.first()
    return outcome_of(Study.objects.get(slug=question.study), identity.enrolment) if identity else _PENDING


def outcome_of(study: Study, person: Enrolment) -> schemas.Outcome:
    """Return how the enrolment ended and the amount owed, in whole cents; pending until it ends."""
    if not person.ended:
        return _PENDING
    reading = reading_of(study)
    participant = Participant(reading, reading.placements().get(enrolment=person))
    owed_cents = participant.owed or {}
    last_match = participant.matches[-1] if participant.matches else None
    payoffs = (last_match.match.payoffs or {}) if last_match else {}
    return schemas.Outcome(
        state="finished",
        ending=person.state,
        role=participant.role_in(last_match),
        match=last_match.match.uid if last_match else None,
        payoff=payoffs.get(participant.role_in(last_match)),
        base_cents=owed_cents.get("base", 0),
        bonus_cents=owed_cents.get("bonus", 0),
        payoff_cents=sum(owed_cents.values()),
        currency=participant.cell.pay().currency,
        turns=_turns(last_match) if last_match else [],
    )


def _turns(played: PlayedMatch) -> list[schemas.TurnOut]:
    return [
        schemas.TurnOut(
            number=decision.move_number,
            role=decision.role,
            move=decision.move,
            by=decision.by,
            seconds=decision.seconds,
        )
        for decision in played.decisions
    ]
