"""The lobby as a step of a participant's path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from lobby import announce, services
from lobby.models import Place
from lobby.tables import Table
from participants.states import State
from participants.steps import Step, StepRefused, register


@register
class LobbyStep(Step):
    """The lobby. A step is {kind, hall, pool, limit, after, fill, strangers, seed}; a match step follows it.

    Keys of the step:
        hall: groups of one hall are formed under one lock.
        pool: participants of one pool can play with each other.
        limit: the maximum waiting time in seconds.
        after: what happens then: "agents" take the free seats, the game has "fewer" seats, or they "leave" with pay.
        fill: the label of the agent that takes free seats.
        strangers: whether to keep apart people who have met, in any session, during the first part of the limit.
        seed: the match's seed is derived from this and the group's number.
        join: in a demonstration, the URL at which another person can join.
    """

    kind = "lobby"
    title = _("Waiting for other players")
    template = "participants/lobby.html"
    state = State.WAITING

    def enter(self) -> None:
        """Take a place on the first visit; record presence on every visit."""
        self.place = services.arrive(self.enrolment, self.enrolment.position)

    def context(self) -> dict[str, Any]:
        return {
            "lobby": {"place": self.place.pk, "seats": [], "missing": 0, "remaining": 0, **status_of(self.place)},
            "after": self.step["after"],
            "join": self.step.get("join", ""),
            "minutes": max(1, round(self.step["limit"] / 60)),
        }

    def answer(self, data: Mapping[str, str]) -> None:
        raise StepRefused({"": _("The game has not started yet.")})


def status_of(place: Place) -> dict[str, Any]:
    """Return what the lobby page shows: {"type": "lobby", "place", "seats", "missing", "remaining" in seconds}.

    {"type": "begin"} tells the page to reload because the participant is no longer at this step.
    """
    enrolment = place.enrolment
    if enrolment.ended or enrolment.position != place.step:
        return {"type": "begin"}
    places = list(services.present(place.hall_id, place.pool))
    group = announce.seats_of(Table.of(enrolment, place.step), places)
    return {"type": "lobby", "place": place.pk, **group, "remaining": remaining(place)}


def remaining(place: Place) -> int:
    """Return the seconds left of the waiting time."""
    return max(0, round((place.until - timezone.now()).total_seconds()))


def place_of(token: str) -> Place | None:
    """Return the participant's place at the current step, or their last one; None if there is none."""
    return Place.objects.select_related("enrolment").filter(enrolment__token=token).order_by("-step").first()


def answer_request(token: str) -> dict[str, Any]:
    """Return the answer to a page's request; a request also counts as presence."""
    place = place_of(token)
    if place is None:
        return {"type": "begin"}
    if place.group_id is None and place.left_at is None and services.mark_present(place):
        place = place_of(token)
        assert place is not None
    return status_of(place)
