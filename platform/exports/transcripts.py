"""One match as a line of JSON: the source of the tables of matches, seats, rounds, decisions, messages and chat."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from exports.codebook import KEYS
from exports.csvsafe import plain
from exports.times import cut

if TYPE_CHECKING:  # models load only with the apps, which a verification needs not
    from exports.participants import Decision, PlayedMatch

TRANSCRIPTS = "transcripts.jsonl"
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=plain)
ABOUT_EVENTS = ("number", "kind", "at", "turn")
"""Keys of an event beside its data."""


def transcript(match: PlayedMatch) -> dict[str, Any]:
    """Return one match as a line of transcripts.jsonl; the codebook says what its keys mean."""
    times, started_at, ended_at = match.reading.times, match.started_at, match.ended_at
    values = {
        **vars(match.place),
        "pass": match.place.pass_,
        "match": match.uid,
        "game": match.match.game,
        "rules_version": match.match.rules_version,
        "purpose": str(match.match.purpose),
        "source": match.reading.source.origin,
        "unverified": match.unverified,
        "config": match.match.config,
        "seed": match.match.seed,
        "started_at": cut(started_at, times),
        "ended_at": cut(ended_at, times),
        "seconds": round((ended_at - started_at).total_seconds(), 3) if started_at and ended_at else None,
        "ended_how": match.ended_how,
        "players": {role: match.player(role) for role in match.seats},
        "seats": {role: _seat(match, role) for role in match.seats},
        "events": _events(match),
        "chat": _chat(match),
        "rounds": match.records,
        "payoffs": match.match.payoffs or dict.fromkeys(match.seats),
        "metrics": match.match.metrics or {},
        "reasons": list(match.reasons),
        "in_dataset": not match.reasons,
    }
    return {key: values[key] for key in KEYS}


def as_line(transcript: Mapping[str, Any]) -> str:
    """Return a transcript as one line of JSON, with its line end."""
    return _ENCODER.encode(transcript) + "\n"


def _seat(match: PlayedMatch, role: str) -> dict[str, Any]:
    seat, times = match.seats[role], match.reading.times
    told = match.disclosure_to(role)
    return {
        "kind": match.game.kind(role),
        "agent": match.label(role) if seat.agent else None,
        "agent_hash": match.agent_hash(role),
        "information": match.information(role),
        "participant": seat.enrolment.pseudonym if seat.enrolment else None,
        "fills_in": seat.fills_in,
        "left_at": cut(seat.left_at, times),
        "told": {
            "others": told["others"],
            "told": told["told"],
            "words": told.get("words"),
            "at": cut(told["at"], times),
        }
        if told
        else {},
        "left_open_seconds": match.seconds_left_open(role),
        "reasons": list(match.seat_reasons(role)),
    }


def _chat(match: PlayedMatch) -> list[dict[str, Any]]:
    """Return the messages of the chat beside the game, in order."""
    return [
        {
            "number": line.number,
            "role": line.sender,
            "player": match.player(line.sender) if line.sender in match.seats else match.mediator,
            "to": line.to,
            "readers": line.readers,
            "text": match.scrubber.text(line.text),
            "at": cut(line.at, match.reading.times),
            "after": line.after,
        }
        for line in match.chat
    ]


def _events(match: PlayedMatch) -> list[dict[str, Any]]:
    """Return the log with the time of every event and, for moves, the fate of the turn."""
    decisions = {decision.row.number: decision for decision in match.decisions}
    times, imported = match.reading.times, match.imported

    def turn(decision: Decision) -> dict[str, Any]:
        row = decision.row
        number, phase = match.stages[decision.move_number - 1]
        known = {
            "round": number,
            "phase": phase,
            "asked_at": cut(row.asked_at, times),
            "shown_at": cut(row.shown_at, times),
            "answered_at": None if imported else cut(row.at, times),
            "seconds": decision.seconds,
            "refused": None if imported else row.refused + match.illegal_attempts.get(row.number, 0),
            "sight": row.sight,
            "tries": row.tries,
            "warned": row.warned,
        }
        return {name: value for name, value in known.items() if value is not None}

    return [
        {**event, "turn": turn(decisions[row.number])}
        if row.number in decisions
        else {**event, "at": None if imported else cut(row.at, times)}
        for event, row in zip(match.events, match.log, strict=True)
    ]
