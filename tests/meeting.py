"""Actions of the tests with several people inside a live stack; run by `Stack.call`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import Count

from lobby.models import Place
from matches import services
from matches.models import Event, Match, Seat
from opponents.agents import agents_from_specs
from participants import services as people
from participants.models import Enrolment
from payouts.models import LedgerRow
from studies.freezing import launch
from studies.models import Study
from tests.actions import arrive

ROUND = {"players": 5, "runs": 3}


def launch_contest(slug: str, *, of_people: int = 4, agent: str = "script:rational", **fields: Any) -> str:
    """Launch a contest of five seats, this many of them for people; return the study's short name."""
    config = {**ROUND, **fields.pop("config", {})}
    players = config["players"]
    if fields.get("game", "beauty_contest") != "beauty_contest":
        config = {key: value for key, value in config.items() if key not in ROUND}
    seats = {f"p{number}": "person" if number <= of_people else agent for number in range(1, players + 1)}
    study = Study.objects.create(
        **{
            "slug": slug,
            "title": "Together",
            "game": "beauty_contest",
            "config": config,
            "entry": "open",
            "agents": agents_from_specs(agent, settings={} if agent.startswith("script:") else {"cap_study": 5.0}),
            "lineups": [{"name": "", "seats": seats}],
            "asks_code_word": False,
            "asks_quiz": False,
            **fields,
        }
    )
    launch(study)
    return slug


def to_the_lobby(slug: str) -> str:
    """Let a participant arrive and go on to the lobby; return the path of their page, which has not been opened yet."""
    return _read(slug, ("lobby", "match"))


def before_the_lobby(slug: str, people: int) -> list[str]:
    """Let this many people arrive and stop at the instructions; return the paths of their pages."""
    return [_read(slug, ("instructions",)) for _one in range(people)]


def _read(slug: str, until: Sequence[str]) -> str:
    path = arrive(slug)
    enrolment = _by(path)
    while enrolment.step is not None and enrolment.step["kind"] not in until:
        said = {"agree": "yes", "name": "Robin", "code_word": enrolment.code_word}
        people.answer_step(enrolment_id=enrolment.pk, position=enrolment.position, data=said)
        enrolment.refresh_from_db()
    return path


def role_of(path: str) -> str:
    """Return the seat of this page's participant in their match."""
    return Seat.objects.filter(enrolment=_by(path)).order_by("step").last().role


def state_of(path: str) -> str:
    return _by(path).state


def pay_of(path: str) -> dict[str, str]:
    """Return what this page's participant has earned, by reason."""
    return {row.reason: str(row.amount) for row in LedgerRow.objects.filter(enrolment=_by(path))}


def movers(path: str, role: str) -> list[str | None]:
    """Return who made the moves of this seat in this page's match."""
    match = Seat.objects.filter(enrolment=_by(path)).order_by("step").last().match_id
    moves = Event.objects.filter(match=match, kind="move", role=role).order_by("number")
    return [event.data.get("by") for event in moves]


def answer(path: str, number: float) -> bool:
    """Answer the open question for this page's participant; return False if there is none now."""
    seat = Seat.objects.filter(enrolment=_by(path)).order_by("step").last()
    if seat is None:
        return False
    turn = Match.objects.get(pk=seat.match_id).open_turns().get(seat.role)
    if turn is None:
        return False
    move = {"answer": number}
    services.submit_move(match_id=seat.match_id, role=seat.role, move=move, answering=turn.answering)
    return True


def books_of(slug: str) -> dict[str, Any]:
    """Return what must hold whichever services were killed: all endings, and what is duplicated or missing."""
    enrolments = Enrolment.objects.filter(placement__cell__version__study__slug=slug)
    matches = Match.objects.filter(seats__enrolment__in=enrolments).distinct()
    twice = (
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
        "in_two_groups": twice.filter(groups__gt=1).count(),
        "moves": dict(Counter(moves.values_list("number", flat=True))),
        "paid": dict(Counter(paid.values_list("reason", flat=True))),
        "paid_twice": paid.values("enrolment", "reason").annotate(rows=Count("pk")).filter(rows__gt=1).count(),
    }


def _by(path: str) -> Enrolment:
    return Enrolment.objects.get(token=path.split("/")[2])
