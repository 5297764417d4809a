"""Which participants' pages are there."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from matches import services
from matches.absences import has_lost_connection, is_replaced, must_say_so
from matches.models import Match, Seat
from participants import services as people
from participants.states import State

SPARE_WITHIN = timedelta(seconds=1)
"""A call is not recorded if another was within this time."""
QUIET_AFTER = timedelta(seconds=6)
"""A page that has not called for longer than this had lost its connection, or our server was unavailable."""


def heard(seat: Seat) -> bool:
    """Record that the page of the seat's participant is there; return whether the seat is still theirs.

    Those who have completed with the last move still look at its result.

    Called whenever the page connects, sends a message or asks for a frame, before anything else. It ends an absence,
    and gives a seat that an agent has meanwhile taken back from the next turn on.
    """
    assert seat.enrolment_id is not None
    is_open = Q(enrolment__ended_at=None) | Q(enrolment__state=State.COMPLETED)
    theirs = Seat.objects.filter(is_open, pk=seat.pk, left_at=None)
    found = theirs.values_list("enrolment__last_seen_at", "match__status", "match__absences").first()
    if found is None:
        return False
    last_seen_at, status, absences = found
    silence, absence = timezone.now() - last_seen_at, absences.get(seat.role, {})
    may_return = is_replaced(absence) and not must_say_so(absence)
    if status == Match.Status.LIVE and (silence > QUIET_AFTER or has_lost_connection(absence) or may_return):
        # First this, so that no turn is judged before the page has delivered what it has kept.
        services.end_absence(match_id=seat.match_id, role=seat.role, since=last_seen_at)
    if silence > SPARE_WITHIN:
        people.touch(seat.enrolment_id)
    return True
