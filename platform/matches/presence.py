"""Which participants' pages are there."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.utils import timezone

from matches import services
from matches.models import Seat
from matches.sending import SPARE_WITHIN, ends_absence
from participants import services as people
from participants.models import Enrolment
from participants.states import State

_QUERY = """
SELECT person.id, last_seen_at, status, fates AS absences
FROM matches_seat seat, participants_enrolment person, matches_match played
WHERE seat.id = %s AND left_at IS NULL AND (person.ended_at IS NULL OR person.state = %s)
AND person.id = enrolment_id AND played.id = match_id
"""
"""Who has a seat that is still theirs, and their match; composing it from a queryset takes twice as long as asking."""


def heard(seat: Seat, at: datetime | None = None) -> bool:
    """Record that the page of the seat's participant is there; return whether the seat is still theirs.

    Those who have completed with the last move still look at its result.

    Called whenever the page connects, sends a message or asks for a frame, before anything else; a move records it
    itself (`matches.sending`). It ends an absence, and gives a seat that an agent has meanwhile taken back from the
    next turn on.

    Args:
        at: when its message arrived, if it has waited for others since.
    """
    assert seat.enrolment_id is not None
    found: Any = next(iter(Enrolment.objects.raw(_QUERY, [seat.pk, State.COMPLETED])), None)
    if found is None:
        return False
    last_seen_at, absence = found.last_seen_at, json.loads(found.absences).get(seat.role, {})
    if ends_absence(found.status, absence, last_seen_at, at or timezone.now()):
        # First this, so that no turn is judged before the page has delivered what it has kept.
        services.end_absence(match_id=seat.match_id, role=seat.role, since=last_seen_at)
    if timezone.now() - last_seen_at > SPARE_WITHIN:
        people.touch(seat.enrolment_id)
    return True
