"""Which participants' pages are there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q
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


class Found(NamedTuple):
    """What a page is compared with: the newest event of its match, and the earliest deadline in it."""

    last: int
    deadline: datetime | None

    def has_news_after(self, last: int) -> bool:
        """Return whether a page that has seen the events up to `last` needs a new frame.

        It does if its announcement was lost, or if the clock has to be handled.
        """
        return self.last > last or (self.deadline is not None and self.deadline < timezone.now())


def hear_all(here: Mapping[int, datetime], waiting: Mapping[int, datetime]) -> dict[int, Found]:
    """Do what `heard` does for many pages at once; return what was found by seat, for the seats that are still theirs.

    Args:
        here: by seat, when its page said that it was there.
        waiting: by seat, when its page's message arrived, which has waited since. That message will end an absence.
    """
    heard_at = {**waiting, **here}
    theirs = Q(enrolment__ended_at=None) | Q(enrolment__state=State.COMPLETED)
    seats = Seat.objects.filter(theirs, left_at=None, pk__in=_padded(list(heard_at)))
    person = ("enrolment", "enrolment__last_seen_at")
    match = ("match", "match__status", "match__absences", "match__snapshot__last", "match__deadline")
    found, seen, now = dict[int, Found](), list[int](), timezone.now()
    for seat, role, enrolment_id, last_seen_at, match_id, status, absences, last, deadline in seats.values_list(
        "pk", "role", *person, *match
    ):
        found[seat] = Found(last, deadline)
        if ends_absence(status, absences.get(role, {}), last_seen_at, heard_at[seat]):
            if seat not in here:
                continue
            services.end_absence(match_id=match_id, role=role, since=last_seen_at)
        if now - last_seen_at > SPARE_WITHIN:
            seen.append(enrolment_id)
    if seen:
        people.touch_all(_padded(seen))
    return found


def _padded(keys: list[int]) -> list[int]:
    """Repeat the last key until their number is a power of two, so that the database prepares only a few statements."""
    return keys + keys[-1:] * ((1 << (len(keys) - 1).bit_length()) - len(keys))
