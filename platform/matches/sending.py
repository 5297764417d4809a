"""The page that sends a move over its socket: the move's own change hears it, and gives it the frame that follows."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from matches import locking
from matches.absences import Absence, has_lost_connection, is_replaced, must_say_so
from matches.bulk import Statement
from matches.models import Match, Seat
from participants.states import State

SPARE_WITHIN = timedelta(seconds=1)
"""A call is not recorded if another was within this time."""
QUIET_AFTER = timedelta(seconds=6)
"""A page that has not called for longer than this had lost its connection, or our server was unavailable."""
_THEIRS = """
FROM matches_match played JOIN matches_seat seat ON seat.match_id = played.id
JOIN participants_enrolment person ON person.id = seat.enrolment_id
WHERE seat.id = %s AND seat.left_at IS NULL AND (person.ended_at IS NULL OR person.state = %s)
"""


class NotHeard(Exception):
    """The page must be heard before its move: its absence has to end first, or the seat is no longer theirs."""


@dataclass
class Sender:
    """A page of the participant in this seat.

    Attributes:
        at: when its message arrived; it may have waited for others since.
        frame: what the page is to show after its move; None if that was announced, or there is nothing new to show.
        seen_at: when the participant's page was last heard before, once the match is locked.
    """

    seat: Seat
    at: datetime = field(default_factory=timezone.now)
    frame: dict[str, Any] | None = None
    seen_at: datetime = field(init=False)

    def locked_match(self) -> Match:
        """Lock and return the match; call this in a transaction.

        Raises:
            NotHeard
        """
        found = locking.locked_match(_THEIRS, [self.seat.pk, State.COMPLETED], beside="person.last_seen_at")
        if found is None:
            raise NotHeard
        match, self.seen_at = found
        if timezone.is_naive(self.seen_at):
            self.seen_at = timezone.make_aware(self.seen_at, UTC)
        if ends_absence(match.status, match.absences.get(self.seat.role, {}), self.seen_at, self.at):
            raise NotHeard
        return match

    def recording(self, now: datetime) -> list[Statement]:
        """Return what records that the page is there, if it is news, in the change of the match that was locked."""
        if now - self.seen_at <= SPARE_WITHIN:
            return []
        seen_at = connection.ops.adapt_datetimefield_value(now)
        seen = "UPDATE participants_enrolment SET last_seen_at = %s WHERE id = %s AND ended_at IS NULL"
        return [(seen, [seen_at, self.seat.enrolment_id])]


def ends_absence(status: str, absence: Absence, last_seen_at: datetime, heard_at: datetime) -> bool:
    """Return whether a page had been away from its live match between these two times at which it was heard."""
    may_return = is_replaced(absence) and not must_say_so(absence)
    is_back = heard_at - last_seen_at > QUIET_AFTER or has_lost_connection(absence) or may_return
    return status == Match.Status.LIVE and is_back
