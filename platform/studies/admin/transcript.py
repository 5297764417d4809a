"""A match's transcript: who played, and every event in order, a page at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Max
from django.utils.translation import gettext as _

from games.errors import GameError
from games.tokens import css_class
from matches.forms import fields_of
from matches.models import Event, Match
from opponents.spending import refusal_in_match
from plans.asking import settings_of

EVENTS_PER_PAGE = 40
"""Number of events per page."""


@dataclass(frozen=True)
class Line:
    """One event.

    Attributes:
        kind: start, draw, move, end, abandoned.
        style: the classes of the seat's colour and mark.
        values: what it contains, as (label, value).
        message: a player's message, as plain text.
        by: who moved in place of the seat's own player; usually empty.
        asked_at, shown_at: for moves: when the turn opened, and when the participant's screen showed it.
        seconds: how long the mover took to answer.
    """

    number: int
    kind: str
    at: datetime
    role: str = ""
    seat_title: str = ""
    style: str = ""
    person: bool = False
    by: str = ""
    values: list[tuple[str, str]] = field(default_factory=list)
    message: str | None = None
    asked_at: datetime | None = None
    shown_at: datetime | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Transcript:
    """A match's seats, parameters and results, without its events.

    Attributes:
        capped: the match's own caps that have been reached.
        names: titles of roles, moves' fields and results.
        last: the newest event's number.
    """

    seats: list[dict[str, Any]]
    config: list[tuple[str, str]]
    capped: list[str]
    results: list[tuple[str, str]]
    names: Mapping[str, str]
    last: int


def transcript_of(match: Match) -> Transcript:
    """Return the match's seats, parameters and results, at a cost that doesn't depend on the match's length."""
    titles, parameters, names = _labels(match)
    payoffs = match.payoffs or {}
    seats = [
        {
            "role": seat.role,
            "title": titles.get(seat.role, seat.role),
            "agent": seat.agent,
            "enrolment": seat.enrolment,
            "payoff": readable(payoffs[seat.role]) if seat.role in payoffs else "–",
            "appears": _answer_timing(seat, blind=match.blind) if seat.agent else "",
        }
        for seat in match.seats.all()
    ]
    seats.sort(key=lambda seat: list(titles).index(seat["role"]) if seat["role"] in titles else len(titles))
    for index, seat in enumerate(seats):
        seat["style"] = css_class(index)
    refusals = (refusal_in_match(agent.settings.caps(), match.uid) for agent in match.agents().values())
    return Transcript(
        seats=seats,
        config=[(parameters.get(name, name), readable(value)) for name, value in match.config.items()],
        capped=list(dict.fromkeys(refusal for refusal in refusals if refusal)),
        results=[(_name_of(names, key), readable(value)) for key, value in (match.metrics or {}).items()],
        names=names,
        last=match.events.aggregate(last=Max("number"))["last"] or 0,
    )


def page_of(match: Match, transcript: Transcript, number: int) -> list[Line]:
    """Return the page of events that contains event `number`."""
    first = (number - 1) // EVENTS_PER_PAGE * EVENTS_PER_PAGE + 1
    events = match.events.filter(number__range=(first, first + EVENTS_PER_PAGE - 1)).order_by("number")
    return [line_of(event, transcript) for event in events]


def line_of(event: Event, transcript: Transcript) -> Line:
    """Return an event in readable form."""
    roles = [seat["role"] for seat in transcript.seats]
    seat = transcript.seats[roles.index(event.role)] if event.role in roles else None
    return Line(
        number=event.number,
        kind=event.kind,
        at=event.at,
        role=event.role,
        seat_title=seat["title"] if seat else event.role,
        style=seat["style"] if seat else "",
        person=bool(seat and seat["enrolment"]),
        by=event.data.get("by") or "",
        values=[(name, readable(value)) for name, value in _values(event, transcript.names)],
        message=event.data["move"].get("message") if event.kind == "move" else None,
        asked_at=event.asked_at,
        shown_at=event.shown_at,
        seconds=_seconds(event),
    )


def readable(value: Any) -> str:
    """Return a value in readable form: 10000.0 → "10,000", None → "–", lists and objects as JSON."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return str(_("yes") if value else _("no"))
    if isinstance(value, int | float):
        return f"{value:,.10g}" if abs(value) < 1e10 else f"{value:,}"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _labels(match: Match) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Return the titles of roles, of parameters, and of all that the log names; none if the rules are gone."""
    try:
        game = match.configured()
    except GameError:
        return {}, {}, {}
    titles = {role: str(game.role_title(role)) for role in game.roles()}
    named = {field.name: field.label for model in (game.Results, *game.move_types) for field in fields_of(model)}
    return titles, {field.name: field.label for field in fields_of(game.Config)}, {**named, **titles}


def _name_of(names: Mapping[str, str], key: str) -> str:
    return names.get(key) or key.replace("_", " ")


def _answer_timing(seat: Any, *, blind: bool) -> str:
    """Return how an agent's answers appear to participants, which is a treatment of the study."""
    if blind:
        return _("answers appear after the time a person would take, as all do in a blind study")
    wordings = {
        "at_once": _("answers appear at once"),
        "typed": _("answers appear as they are typed"),
        "delayed": _("answers appear at human typing speed"),
    }
    wording = wordings[settings_of(seat.settings).appears]
    return (
        _("{says}, after a delay of at least {seconds} s").format(says=wording, seconds=f"{seat.delay:g}")
        if seat.delay
        else wording
    )


def _values(event: Event, names: Mapping[str, str]) -> list[tuple[str, Any]]:
    if event.kind == "move":
        move = {name: value for name, value in event.data["move"].items() if name != "message"}
        replaced = [(_("replaces"), f"#{event.data['replaces']}")] if "replaces" in event.data else []
        return [*((_name_of(names, key), value) for key, value in move.items()), *replaced]
    if event.kind == "draw":
        known_to = event.data.get("known_to")
        return [
            (event.data["name"].replace("_", " "), event.data["value"]),
            (
                _("known to"),
                _("everybody")
                if known_to is None
                else ", ".join(_name_of(names, role) for role in known_to) or _("nobody"),
            ),
        ]
    if event.kind == "end":
        return [(_name_of(names, role), payoff) for role, payoff in event.data["payoffs"].items()]
    if event.kind == "abandoned":
        return [(_("reason"), event.data["reason"].replace("_", " "))]
    return [(_("rules version"), event.data["rules_version"]), (_("seed"), str(event.data["seed"]))]


def _seconds(event: Event) -> float | None:
    start = event.shown_at or event.asked_at
    return (event.at - start).total_seconds() if start else None
