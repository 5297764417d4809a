"""Actions of the end-to-end tests of drafts, which `Stack.call` runs inside a live stack."""

from __future__ import annotations

from typing import Any

from matches import services
from matches.drafts import Draft
from matches.models import Match, Seat

_drafts: dict[str, Draft] = {}


def begin(path: str) -> None:
    """Let the agent for whom this participant is waiting start writing."""
    seat, role, answering = _awaited(path)
    _drafts[path] = Draft(seat.match_id, role, answering, people=[seat.role])


def add(path: str, text: str) -> None:
    _drafts[path].add(text)


def retract(path: str) -> None:
    _drafts[path].retract()


def commit(path: str, move: dict[str, Any]) -> None:
    """Submit the agent's move."""
    seat, role, answering = _awaited(path)
    services.submit_move(match_id=seat.match_id, role=role, answering=answering, move=move)


def _seat(path: str) -> Seat:
    return Seat.objects.get(enrolment__token=path.split("/")[2])


def _awaited(path: str) -> tuple[Seat, str, int]:
    seat = _seat(path)
    play = Match.objects.get(pk=seat.match_id).play()
    (role,) = play.waiting_for()
    return seat, role, play.opened[role]
