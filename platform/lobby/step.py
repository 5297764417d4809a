"""Waiting for others as a step on a participant's way."""

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
    """step: {kind, hall, pool, limit, after, fill, strangers, seed}; a match step follows it.

    Attributes of the step:
        hall: those of one hall are grouped under one lock.
        pool: those of one pool can play with each other.
        limit: seconds that a person waits at most.
        after: what happens then: "agents" take the free seats, "fewer" seats are played, or they "leave" with pay.
        fill: the label of the agent that takes free seats.
        strangers: whether people who have played with each other are kept apart while the limit allows it.
        seed: from which, with the group's number, the match's seed follows.
        join: of a demonstration, the address at which somebody else can come in.
    """

    kind = "lobby"
    title = _("Waiting for other players")
    template = "participants/lobby.html"
    state = State.WAITING

    def enter(self) -> None:
        """Take a place on the first visit, be heard from on every one."""
        self.place = services.arrive(self.enrolment, self.enrolment.position)

    def context(self) -> dict[str, Any]:
        return {
            "lobby": {"place": self.place.pk, "seats": [], "missing": 0, "remaining": 0, **status_of(self.place)},
            "after": self.step["after"],
            "join": self.step.get("join", ""),
            "minutes": max(1, round(self.step["limit"] / 60)),
        }

    def answer(self, data: Mapping[str, str]) -> None:
        raise StepRefused({"": _("The game has not begun yet.")})


def status_of(place: Place) -> dict[str, Any]:
    """What a page of this place shows: {"type": "lobby", "place", "seats", "missing", "remaining" in seconds}.

    {"type": "begin"} tells a page whose person is no longer at this step to load where they stand.
    """
    enrolment = place.enrolment
    if enrolment.ended or enrolment.position != place.step:
        return {"type": "begin"}
    places = list(services.present(place.hall_id, place.pool))
    here = announce.seats_of(Table.of(enrolment, place.step), places)
    return {"type": "lobby", "place": place.pk, **here, "remaining": remaining(place)}


def remaining(place: Place) -> int:
    """Seconds until the person need not wait any longer."""
    return max(0, round((place.until - timezone.now()).total_seconds()))


def place_of(token: str) -> Place | None:
    """The lobby place that a participant's token opens: that of the present step, or the last they had."""
    return Place.objects.select_related("enrolment").filter(enrolment__token=token).order_by("-step").first()


def asked(token: str) -> dict[str, Any]:
    """What a page that asks is told; asking is being heard from."""
    place = place_of(token)
    if place is None:
        return {"type": "begin"}
    if place.group_id is None and place.left_at is None and services.hear(place):
        place = place_of(token)
        assert place is not None
    return status_of(place)
