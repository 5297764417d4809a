"""Deadlines in the lobby. Our outages do not count, and after one, pages have time to reconnect first."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

import uptime.services as uptimes
from lobby.models import Group, Place

PRESENT_SECONDS = 15
"""A participant counts as present if their page sent a request within this time in which it could be served."""
PRESENT = timedelta(seconds=PRESENT_SECONDS)
DELIVERY = timedelta(seconds=8)
"""Pages call every 4 seconds: one that has not for this long could not deliver an answer either."""


def ends(start: datetime, deadline: datetime) -> datetime:
    """Return when something ends that began at `start`: at its deadline, with the outages since then added.

    It never ends in an outage, nor before pages had `PRESENT_SECONDS` to reconnect after one.
    """
    uptime = uptimes.uptime()
    end = uptime.extended(start, deadline)
    for began_at, ended_at in uptime.gaps:
        if start < ended_at and began_at <= end:
            end = max(end, ended_at + PRESENT)
    return end


def is_over(end: datetime) -> bool:
    """Return whether this time, from `ends`, has passed."""
    return uptimes.uptime().has_passed(end)


def present_since() -> datetime:
    """Return the time since which a page must have sent a request for its participant to count as present."""
    since = timezone.now() - PRESENT
    for began_at, ended_at in reversed(uptimes.uptime().gaps):
        if ended_at > since:
            since = min(since, began_at - PRESENT)
    return since


def wait_ends(place: Place) -> datetime:
    """Return when the participant's waiting time ends."""
    return ends(place.since, place.until)


def asking_ends(group: Group) -> datetime:
    """Return when the time ends in which the group's members can say that they are ready."""
    return ends(group.made_at, group.until)


def kept_until(place: Place) -> datetime | None:
    """Return until when the place is kept if the page is not heard from again; None if it was closed."""
    if place.heard_at is None:
        return None
    return ends(place.heard_at, place.heard_at + PRESENT)


def seconds_until(moment: datetime | None) -> float:
    """Return the seconds left, at least 0."""
    return max(0.0, (moment - timezone.now()).total_seconds()) if moment else 0.0
