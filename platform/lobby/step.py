"""The lobby as a step of a participant's path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from lobby import services, times
from lobby.models import Place
from lobby.tables import Table
from matches.picturing import seat_class
from participants import services as people
from participants.states import State
from participants.steps import Step, StepLeft, register


@register
class LobbyStep(Step):
    """The lobby. A step is {kind, hall, pool, limit, ready, after, fill, strangers, seed}; a match step follows it.

    Keys of the step:
        hall: groups of one hall are formed under one lock.
        pool: participants of one pool can play with each other.
        limit: the maximum waiting time in seconds.
        ready: how many seconds a complete group has to say that it is ready; 0: its match opens at once.
        after: what happens after the limit: "agents" take the free seats, the game has "fewer" seats, or they "leave"
            with pay.
        fill: the label of the agent that takes free seats.
        strangers: whether to keep apart people who have met, in any session, during the first part of the limit.
        seed: the match's seed is derived from this and the group's number.
        keep: names a group that is formed here, at its first lobby, and then stays together.
        members: of a group that stays together: the enrolments that gather here again; nobody waits for those who have
            ended.
        rotates: whether participants take each other's seats from match to match.
        join: in a demonstration, the URL at which another person can join.
    """

    kind = "lobby"
    title = _("Waiting for other players")
    template = "participants/lobby.html"
    state = State.WAITING
    ends_with_answer = False

    def enter(self, *, first: bool) -> None:
        """Take a place on the first visit; record presence on every visit."""
        self.place = services.arrive(self.enrolment, self.enrolment.position)

    def context(self) -> dict[str, Any]:
        place = Place.objects.select_related("enrolment", "group").get(pk=self.place.pk)
        status = page_status(place)
        if status["type"] == "begin":  # with this participant the group was complete
            raise StepLeft
        minutes, seconds = divmod(status["remaining"], 60)
        return {
            "lobby": status,
            "rows": [*["here"] * (status.get("others") or 0), *["free"] * (status.get("missing") or 0)],
            "clock": f"{minutes}:{seconds:02}",
            "after": "" if Table.of(self.enrolment, place.step).is_blind else self.step["after"],
            "join": self.step.get("join", ""),
            "shared": settings.DEMO_SHARED_URL,
            "ready_seconds": self.step["ready"],
            "present_seconds": times.PRESENT_SECONDS,
        }

    def answer(self, data: Mapping[str, str]) -> None:
        group = data.get("group", "")
        if group.isdecimal():
            services.say_ready(self.enrolment, self.enrolment.position, int(group))


def status_of(place: Place) -> dict[str, Any]:
    """Return where a participant of the lobby is, with times in seconds; {"type": "begin"} if no longer at this step.

    Keys, in addition to "type" ("lobby"):
        stage: "waiting" for a group, or "ready" if the group is asked whether it is ready.
        others: how many others are here for the group; when asked, how many of them are not ready yet.
        missing: how many must still arrive.
        remaining: until the waiting time ends; when asked, until the time for saying so ends.
        kept: for how long the place is kept if the page is not heard from again.
        setback: why the last group was dissolved (`Place.Setback`), or "".
        group, seat, style, pressed: when asked: the group, the seat's title, the classes of its colour and mark, and
            whether the participant is ready.
        missed: when asked: whether the study ends for the participant if they miss this start, too.
    """
    enrolment = place.enrolment
    if enrolment.ended or enrolment.position != place.step:
        return {"type": "begin"}
    status = {"type": "lobby", "setback": place.setback, "kept": round(times.seconds_until(times.kept_until(place)), 1)}
    if place.group is None:
        others, missing = services.prospects_of(place)
        remaining = times.seconds_until(times.wait_ends(place))
        return {**status, "stage": "waiting", "others": others, "missing": missing, "remaining": round(remaining)}
    members = list(place.group.places.all())
    table = Table.of(enrolment, place.step).for_people(len(members))
    with override(enrolment.language):  # sockets have no language of their own
        seat = str(table.game.role_title(place.role))
    return {
        **status,
        "stage": "ready",
        "group": place.group.pk,
        "seat": seat,
        "style": seat_class(table.game, place.role),
        "pressed": place.ready_at is not None,
        "missed": place.missed == services.MOST_MISSED - 1,
        "others": sum(member.ready_at is None for member in members if member.pk != place.pk),
        "missing": 0,
        "remaining": round(times.seconds_until(times.asking_ends(place.group))),
    }


def page_status(place: Place) -> dict[str, Any]:
    """Return what the lobby page shows: `status_of`, without counts if they could show that programs play."""
    status = status_of(place)
    if status["type"] == "lobby" and Table.of(place.enrolment, place.step).is_blind:
        return {**status, "others": None, "missing": None}
    return status


def place_of(token: str) -> Place | None:
    """Return the participant's place at the current step, or their last one; None if there is none."""
    places = Place.objects.select_related("enrolment", "group").filter(enrolment__token=token)
    return places.order_by("-step").first()


def say_ready(token: str, group: int) -> None:
    """Record that the participant of this page is ready to play with this group (`services.say_ready`)."""
    place = place_of(token)
    if place is not None:
        people.answer_step(enrolment_id=place.enrolment_id, position=place.step, data={"group": str(group)})


def answer_request(token: str) -> dict[str, Any]:
    """Return the answer to a page's request; a request also counts as presence."""
    place = place_of(token)
    if place is None:
        return {"type": "begin"}
    is_waiting = place.left_at is None and (place.group is None or place.group.match_id is None)
    if is_waiting and services.mark_present(place):
        place = place_of(token)
        assert place is not None
    return page_status(place)
