"""Which participants' pages are there."""

from __future__ import annotations

from matches.models import Seat
from participants import services as people


def heard(seat: Seat) -> bool:
    """Record that the page of the seat's participant is there; return whether the seat is still theirs.

    Called whenever the page connects, sends a message or asks for a frame.
    """
    assert seat.enrolment_id is not None
    return people.touch(seat.enrolment_id)
