"""Actions of the end-to-end tests with several people, which `Stack.call` runs inside a live stack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db.models import Count, Sum
from django.utils import timezone

from lobby import times
from lobby.models import Place
from lobby.services import pool_prospects, table_of
from matches import services
from matches.models import ChatLine, Event, Match, Seat
from participants import services as people
from participants.models import Enrolment
from payouts.models import LedgerRow
from studies.tests import kit
from tests.actions import arrive

SIZE = {"players": 5, "runs": 3}


def launch_contest(slug: str, *, human_seats: int = 4, agent: str = "script:rational", **fields: Any) -> str:
    """Launch a contest with five seats, of which `human_seats` are for people; return the study's short name.

    Groups start at once: `ready` is 0.
    """
    config = {**SIZE, **fields.pop("config", {})}
    players = config["players"]
    if fields.get("game", "beauty_contest") != "beauty_contest":
        config = {key: value for key, value in config.items() if key not in SIZE}
    seats = {f"p{number}": "person" if number <= human_seats else agent for number in range(1, players + 1)}
    parts = {
        "game": "beauty_contest",
        "title": "Together",
        "config": config,
        "via": "open",
        "agents": {agent: kit.agent(agent, **({} if agent.startswith("script:") else {"cap_study": 5.0}))},
        "seats": seats,
        "code_word": None,
        "ready": 0,
        **fields,
    }
    return kit.launched(slug, **parts).slug


def reach_lobby(slug: str, name: str = "Robin") -> str:
    """Let a participant arrive and continue to the lobby; return the path of the page, which is not opened yet."""
    return _advance(slug, ("lobby", "match"), name)


def reach_instructions(slug: str, people: int) -> list[str]:
    """Let this many people arrive and stop at the instructions; return the paths of their pages."""
    return [_advance(slug, ("instructions",)) for _number in range(people)]


def _advance(slug: str, kinds: Sequence[str], name: str = "Robin") -> str:
    path = arrive(slug)
    enrolment = _enrolment_of(path)
    while enrolment.step is not None and enrolment.step["kind"] not in kinds:
        answers = {"agree": "yes", "name": name, "code_word": enrolment.code_word}
        people.answer_step(enrolment_id=enrolment.pk, position=enrolment.position, data=answers)
        enrolment.refresh_from_db()
    people.show_step(enrolment_id=enrolment.pk)
    return path


def role_of(path: str) -> str:
    """Return the role of this page's participant in their latest match."""
    return Seat.objects.filter(enrolment=_enrolment_of(path)).order_by("step").last().role


def state_of(path: str) -> str:
    return _enrolment_of(path).state


def pay_of(path: str) -> dict[str, str]:
    """Return what this page's participant has earned, by reason."""
    return {row.reason: str(row.amount) for row in LedgerRow.objects.filter(enrolment=_enrolment_of(path))}


def movers(path: str, role: str) -> list[str | None]:
    """Return who made each move of this role in the match on this page; None: its own player."""
    match = Seat.objects.filter(enrolment=_enrolment_of(path)).order_by("step").last().match_id
    moves = Event.objects.filter(match=match, kind="move", role=role).order_by("number")
    return [event.data.get("by") for event in moves]


def answer(path: str, number: float) -> bool:
    """Answer the open turn for this page's participant; return False if there is none."""
    seat = Seat.objects.filter(enrolment=_enrolment_of(path)).order_by("step").last()
    if seat is None:
        return False
    turn = Match.objects.get(pk=seat.match_id).open_turns().get(seat.role)
    if turn is None:
        return False
    move = {"answer": number}
    services.submit_move(match_id=seat.match_id, role=seat.role, move=move, answering=turn.answering)
    return True


def outcome_summary(slug: str) -> dict[str, Any]:
    """Count endings, matches, seats, moves and payments, and find duplicates; none may appear when services die."""
    enrolments = Enrolment.objects.filter(placement__cell__version__study__slug=slug)
    matches = Match.objects.filter(seats__enrolment__in=enrolments).distinct()
    groups_per_enrolment = (
        Place.objects.filter(enrolment__in=enrolments)
        .values("enrolment")
        .annotate(groups=Count("group", distinct=True))
    )
    moves = Event.objects.filter(match__in=matches, kind="move").values("match", "role").annotate(number=Count("pk"))
    paid = LedgerRow.objects.filter(enrolment__in=enrolments)
    return {
        "states": dict(Counter(enrolments.values_list("state", flat=True))),
        "matches": dict(Counter(matches.values_list("status", flat=True))),
        "seats": Seat.objects.filter(enrolment__in=enrolments).count(),
        "in_two_groups": groups_per_enrolment.filter(groups__gt=1).count(),
        "moves": dict(Counter(moves.values_list("number", flat=True))),
        "paid": dict(Counter(paid.values_list("reason", flat=True))),
        "paid_twice": paid.values("enrolment", "reason").annotate(rows=Count("pk")).filter(rows__gt=1).count(),
    }


def lobby_truths(tokens: list[str], seconds: float) -> dict[str, tuple[list[str], str]]:
    """Return what each page in the lobby may truthfully have said within the last seconds, and who is here for it.

    The words are those of `lobby_crowd.Page`'s `sentence` and `counts`; the latter are "" unless the person
    waits for a group.
    """
    places = Place.objects.filter(enrolment__token__in=tokens).select_related("enrolment", "group__match")
    since = timezone.now() - timedelta(seconds=seconds)
    prospects: dict[tuple[int, str], dict[int, tuple[int, int]]] = {}
    truths = {}
    for place in places:
        group, sentences, counts = place.group, ["lost, may be over"], ""
        if place.enrolment.ended or (group is not None and group.match is not None):
            sentences.append("begun")
        if group is None or group.made_at > since:
            sentences.append("waiting")
        if times.seconds_until(times.kept_until(place)) > 0 or group is not None:
            sentences.append("lost, kept")
        if group is not None and (group.match is None or group.match.started_at > since):
            seat = table_of(place).for_people(group.places.count()).game.role_title(place.role)
            if place.ready_at is None or place.ready_at > since:
                sentences.append(f"ready as {seat}, not pressed")
            if place.ready_at is not None:
                sentences.append(f"ready as {seat}, pressed")
        if group is None and not place.enrolment.ended:
            pool = (place.hall_id, place.pool)
            if pool not in prospects:
                prospects[pool] = pool_prospects(*pool)
            if place.pk in prospects[pool]:
                counts = "{} here, {} missing".format(*prospects[pool][place.pk])
        truths[place.enrolment.token] = (sentences, counts)
    return truths


def lobby_outcome(slug: str) -> dict[str, int]:
    """Return how many people were not seated in the end, and how often someone was sent back to the queue."""
    places = Place.objects.filter(enrolment__placement__cell__version__study__slug=slug)
    missed = places.aggregate(missed=Sum("missed"))["missed"] or 0
    return {"not seated": places.filter(group__match=None).count(), "missed": missed}


def matches_of(tokens: Sequence[str]) -> dict[str, int]:
    """Return the match of each person who has one, by token."""
    return dict(Seat.objects.filter(enrolment__token__in=tokens).values_list("enrolment__token", "match"))


def truth(paths: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return what the database holds now about the participant of each of these pages, in plain data.

    Times are seconds since the epoch. `match` describes the latest match: `waiting` are the roles that have yet to
    answer, `rounds` each finished round's number by role, and `moves` who has moved how often for each role (""
    is the seat's own participant).
    """
    people_by_path = {path: _enrolment_of(path) for path in paths}
    seats = {
        path: Seat.objects.filter(enrolment=person).order_by("step").last() for path, person in people_by_path.items()
    }
    matches = {pk: _match_truth(pk) for pk in {seat.match_id for seat in seats.values() if seat is not None}}
    return {
        path: {
            "state": person.state,
            "ended": person.ended,
            "step": "" if person.ended or person.step is None else person.step["kind"],
            "code": person.completion_code,
            "earnings": person.earnings,
            "ledger": pay_of(path),
            "place": _place_truth(person),
            "role": seat.role if (seat := seats[path]) else "",
            "left": bool(seat and seat.left_at),
            "match": matches[seat.match_id] if seat else None,
        }
        for path, person in people_by_path.items()
    }


def _match_truth(match_id: int) -> dict[str, Any]:
    match = Match.objects.get(pk=match_id)
    play = match.play()
    moves = Event.objects.filter(match=match, kind="move").order_by("number").values_list("role", "data", "at")
    return {
        "id": match.pk,
        "status": match.status,
        "ending": match.ending,
        "over": play.over,
        "titles": {role: str(play.game.role_title(role)) for role in play.game.roles()},
        "waiting": list(play.waiting_for()),
        "rounds": [dict(zip(play.game.roles(), run, strict=True)) for run in play.state.runs],
        "turns": {
            role: {
                "answering": turn.answering,
                "opened": turn.opened_at.timestamp(),
                "deadline": turn.deadline.timestamp(),
                "extended": turn.extended,
            }
            for role, turn in match.open_turns().items()
        },
        "absences": match.absences,
        "moves": [[role, data.get("by") or "", data["move"].get("answer"), at.timestamp()] for role, data, at in moves],
    }


def _place_truth(person: Enrolment) -> dict[str, Any] | None:
    place = Place.objects.select_related("group").filter(enrolment=person).order_by("step").last()
    if place is None:
        return None
    group = place.group
    return {
        "since": place.since.timestamp(),
        "until": place.until.timestamp(),
        "group": place.group_id,
        "asked": group is not None and group.match_id is None,
        "made": group.made_at.timestamp() if group else None,
        "ready_until": group.until.timestamp() if group else None,
        "ready": place.ready_at is not None,
        "not_ready": group.places.filter(ready_at=None).count() if group else None,
        "role": place.role,
        "setback": place.setback,
        "left": place.left_at is not None,
        "groups": place.hall.groups.filter(pool=place.pool, match__isnull=False).count(),
    }


def _enrolment_of(path: str) -> Enrolment:
    return Enrolment.objects.get(token=path.split("/")[2])


def chat_lines(slug: str) -> list[tuple[str, str]]:
    """Return (sender, text) of every message in the chats of a study's matches, in order."""
    lines = ChatLine.objects.filter(match__seats__enrolment__placement__version__study__slug=slug).distinct()
    return list(lines.order_by("match", "number").values_list("sender", "text"))
