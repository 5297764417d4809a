"""Deadlines in the lobby, to which the time of our outages is added."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from lobby.models import Group, Place

PRESENT_SECONDS = 15
"""A participant counts as present if their page sent a request within this time."""


def extended(start: datetime, deadline: datetime) -> datetime:
    """Return the deadline of something that began at `start`, with our outages added since then."""
    return deadline


def present_since() -> datetime:
    """Return the time since which a page must have sent a request for its participant to count as present."""
    return timezone.now() - timedelta(seconds=PRESENT_SECONDS)


def wait_is_over(place: Place) -> bool:
    """Return whether the participant's waiting time is over."""
    return wait_ends(place) <= timezone.now()


def wait_ends(place: Place) -> datetime:
    """Return when the participant's waiting time ends."""
    return extended(place.since, place.until)


def asking_ends(group: Group) -> datetime:
    """Return when the time ends in which the group's members can say that they are ready."""
    return extended(group.made_at, group.until)


def kept_until(place: Place) -> datetime | None:
    """Return until when the place is kept if the page is not heard from again; None if it was closed."""
    if place.heard_at is None:
        return None
    return extended(place.heard_at, place.heard_at + timedelta(seconds=PRESENT_SECONDS))


def seconds_until(moment: datetime | None) -> float:
    """Return the seconds left, at least 0."""
    return max(0.0, (moment - timezone.now()).total_seconds()) if moment else 0.0
