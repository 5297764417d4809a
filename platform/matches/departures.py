"""Remove participants from their live matches when their enrolment ends elsewhere."""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.dispatch import receiver

from matches import services
from matches.models import Match, Seat
from participants.models import Enrolment
from participants.signals import enrolment_ended


@receiver(enrolment_ended)
def leave_live_matches(sender: type[Enrolment], enrolment: Enrolment, **_signal) -> None:
    """Leave after the commit: matches must be locked before enrolments, never the reverse."""
    seats = Seat.objects.filter(enrolment=enrolment, match__status=Match.Status.LIVE)
    for match_id, role in seats.values_list("match_id", "role"):
        transaction.on_commit(partial(services.leave, match_id=match_id, reason=enrolment.state, role=role))
