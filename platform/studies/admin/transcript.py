"""A match as a researcher reads it: every event in order, the models' calls at the moves they led to."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from games.errors import GameError
from matches.forms import fields_of
from matches.models import Event, Match
from opponents.models import Call
from opponents.spending import cap_of_match


@dataclass(frozen=True)
class Line:
    """One event.

    Attributes:
        kind: start, draw, move, end, abandoned.
        values: what it says, as (label, value).
        message: words of a player, never markup.
        seconds: what the mover took to answer.
        calls: the records of the models that were asked for this move.
    """

    number: int
    kind: str
    at: datetime
    role: str = ""
    who: str = ""
    side: int = 0
    person: bool = False
    by: str = ""
    values: list[tuple[str, str]] = field(default_factory=list)
    message: str | None = None
    seconds: float | None = None
    calls: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Transcript:
    """A whole match; `unanswered` are calls that led to no move, `capped` says which caps of its own are reached."""

    seats: list[dict[str, Any]]
    config: list[tuple[str, str]]
    lines: list[Line]
    unanswered: list[dict[str, Any]]
    capped: list[str]
    results: list[tuple[str, str]]


def transcript_of(match: Match) -> Transcript:
    """Everything that happened in the match so far."""
    titles, parameters = _words(match)
    payoffs = match.payoffs or {}
    seats = [
        {
            "role": seat.role,
            "title": titles.get(seat.role, seat.role),
            "agent": seat.agent,
            "enrolment": seat.enrolment,
            "payoff": shown(payoffs[seat.role]) if seat.role in payoffs else "–",
        }
        for seat in match.seats.all()
    ]
    seats.sort(key=lambda seat: list(titles).index(seat["role"]) if seat["role"] in titles else len(titles))
    sides = {seat["role"]: i for i, seat in enumerate(seats)}
    people = {seat["role"] for seat in seats if seat["enrolment"]}
    calls = _calls(match)
    lines = []
    for event in match.events.order_by("number"):
        role = event.role
        asked = _taken(calls, role, event.number) if event.kind == "move" else []
        lines.append(
            Line(
                number=event.number,
                kind=event.kind,
                at=event.at,
                role=role,
                who=titles.get(role, role),
                side=sides.get(role, 0) % 2,
                person=role in people,
                by=event.data.get("by") or "",
                values=[(name, shown(value)) for name, value in _values(event)],
                message=event.data["move"].get("message") if event.kind == "move" else None,
                seconds=_seconds(event),
                calls=asked,
            )
        )
    return Transcript(
        seats=seats,
        config=[(parameters.get(name, name), shown(value)) for name, value in match.config.items()],
        lines=lines,
        unanswered=[call for (_role, _answering), left in sorted(calls.items()) for call in left],
        capped=_capped(match),
        results=[(name.replace("_", " "), shown(value)) for name, value in (match.metrics or {}).items()],
    )


def shown(value: Any) -> str:
    """A value as people read it: 10000.0 → "10,000", None → "–", lists and objects as JSON."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(_("yes") if value else _("no"))
    if isinstance(value, int | float):
        return f"{value:,.10g}" if abs(value) < 1e10 else f"{value:,}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _capped(match: Match) -> list[str]:
    reached = (cap_of_match(agent.settings.caps(), match.uid) for agent in match.agents().values())
    return list(dict.fromkeys(str(cap) for cap in reached if cap))


def _words(match: Match) -> tuple[dict[str, str], dict[str, str]]:
    """Titles of roles and labels of parameters; nothing under rules that are gone."""
    try:
        game = match.configured()
    except GameError:
        return {}, {}
    titles = {role: str(game.role_title(role)) for role in game.roles()}
    return titles, {blank.name: blank.label for blank in fields_of(game.Config)}


def _values(event: Event) -> list[tuple[str, Any]]:
    if event.kind == "move":
        move = {name: value for name, value in event.data["move"].items() if name != "message"}
        return [(name.replace("_", " "), value) for name, value in move.items()]
    if event.kind == "draw":
        known = event.data.get("known_to")
        return [
            (event.data["name"].replace("_", " "), event.data["value"]),
            (_("known to"), _("everybody") if known is None else ", ".join(known) or _("nobody")),
        ]
    if event.kind == "end":
        return [(role, payoff) for role, payoff in event.data["payoffs"].items()]
    if event.kind == "abandoned":
        return [(_("reason"), event.data["reason"].replace("_", " "))]
    return [(_("rules version"), event.data["rules_version"]), (_("seed"), str(event.data["seed"]))]


def _seconds(event: Event) -> float | None:
    since = event.shown_at or event.asked_at
    return (event.at - since).total_seconds() if since else None


def _calls(match: Match) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """The calls of the match's models by the turn that they were made for."""
    found: dict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)
    for call in Call.objects.filter(match_uid=match.uid).order_by("pk"):
        found[call.role, call.answering].append(call.record)
    return found


def _taken(calls: dict[tuple[str, int], list[dict[str, Any]]], role: str, number: int) -> list[dict[str, Any]]:
    """The calls for the turns of `role` that were open before event `number`, taken out of `calls`."""
    turns = sorted(turn for turn in calls if turn[0] == role and turn[1] < number)
    return [call for turn in turns for call in calls.pop(turn)]
