"""One step of a match: an event, what each role saw at that moment, and the model calls behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

import games.play
from games.errors import GameError
from games.interface import Role
from games.play import Play
from llm_agents.talking import CHAT
from matches.models import Event, Match
from matches.screens import SharedContent, awaited_agents, render_screen
from opponents.models import Call
from studies.admin.transcript import Line, Transcript, line_of

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class ShownCall:
    """A model call as shown; `record` is everything sent and received."""

    pk: int
    record: Mapping[str, Any]
    cost: Decimal | None
    outcome: str


@dataclass(frozen=True)
class Step:
    """One event and the moment around it.

    Attributes:
        side: whether the screens are from before or after the event.
        calls: the model calls that led to it, in order.
        unanswered: for the last event: calls that have led to no move yet.
        previous, next: the neighbouring events' numbers; None at the ends.
    """

    line: Line
    side: str
    calls: list[ShownCall]
    unanswered: list[ShownCall]
    previous: int | None
    next: int | None


class NoScreen(Exception):
    """Raised when a role's screen cannot be shown; the message gives the reason."""


def step_of(match: Match, transcript: Transcript, number: int, side: str | None) -> Step:
    """Return the step of event `number`, by default with a move's screens from just before it."""
    event = match.events.get(number=number)
    shown_side = side if side in (BEFORE, AFTER) else BEFORE if event.kind == "move" else AFTER
    is_last = number == transcript.last and event.kind != "end"
    return Step(
        line=line_of(event, transcript),
        side=shown_side,
        calls=_calls(match, event.role, _last_move(match, event.role, number), number) if event.kind == "move" else [],
        unanswered=_unanswered(match, transcript) if is_last else [],
        previous=number - 1 if number > 1 else None,
        next=number + 1 if number < transcript.last else None,
    )


def answer_to(match: Match, answering: int) -> int | None:
    """Return the number of the event that answered the question opened by event `answering`, or the newest event."""
    later = match.events.filter(number__gt=answering, kind__in=["move", "abandoned"]).order_by("number")
    answer_number = later.values_list("number", flat=True).first()
    return answer_number or match.events.order_by("-number").values_list("number", flat=True).first()


def screen_of(match: Match, role: Role, number: int, side: str) -> str:
    """Return what `role` saw just before or after event `number`, as on the players' own page.

    Costs one replay up to that event.

    Raises:
        NoScreen: these rules cannot replay the match, or the role does not exist.
    """
    try:
        play = play_until(match, number - 1 if side == BEFORE else number)
        if role not in play.game.roles():
            raise NoScreen(_("This game has no such role."))
        waits_for = () if play.forms(role) else awaited_agents(match, play)
        return render_screen(play, role, shared=SharedContent(play, match.disclosure(), waits_for=waits_for))
    except GameError as error:
        raise NoScreen(
            _("The current rules cannot replay this match up to this event: {reason}").format(reason=error)
        ) from None


def play_until(match: Match, number: int) -> Play:
    """Return the play after all moves up to event `number`.

    Raises:
        GameError: the rules refuse a move in the log.
    """
    game = match.configured()
    events = match.events.filter(number__lte=number, kind__in=["move", "abandoned"]).order_by("number")
    logged_moves = list(events.values_list("kind", "data"))
    if match.purpose == Match.Purpose.IMPORTED:
        return games.play.record_moves(
            game, match.seed, [(data["role"], data["move"]) for _kind, data in logged_moves]
        )[0]
    play, _events = games.play.start(game, match.seed)
    for kind, data in logged_moves:
        if kind == "move":
            play, _events = games.play.submit_logged(play, data)
        else:
            play, _events = games.play.abandon(play, data["reason"], data.get("role"))
    return play


def _last_move(match: Match, role: str, before: int) -> int:
    """Return the number of the role's last move before event `before`, or 0."""
    moves: Any = Event.objects.filter(match=match, kind="move", role=role, number__lt=before)
    return moves.order_by("-number").values_list("number", flat=True).first() or 0


def _calls(match: Match, role: str, since: int, until: int) -> list[ShownCall]:
    """Return the calls for questions opened to `role` from event `since` until just before event `until`."""
    calls = Call.objects.filter(match_uid=match.uid, role=role, answering__gte=since, answering__lt=until)
    calls = calls.exclude(purpose=CHAT)
    return [ShownCall(call.pk, call.record, call.cost, call.outcome) for call in calls.order_by("pk")]


def _unanswered(match: Match, transcript: Transcript) -> list[ShownCall]:
    roles: Sequence[str] = [seat["role"] for seat in transcript.seats if seat["agent"]]
    end = transcript.last + 1
    return [call for role in roles for call in _calls(match, role, _last_move(match, role, end), end)]
