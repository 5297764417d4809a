"""What a program's open turns show, and what becomes of the lookups and moves that it sends."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from api.errors import Conflict, InvalidRequest, NotFound
from games.errors import Refused
from games.interface import Json
from games.play import Play
from llm_agents.deciding import legal_move
from llm_agents.errors import BadAnswer
from llm_agents.strategies.asking import Asking
from llm_agents.turn import fault_of
from matches import programs
from matches.chat import said_to
from matches.models import Match
from opponents.agents import Agent
from programs import tokens, turns
from programs.models import Program, ProgramTurn

MOST_SHOWN = 100
"""How many open turns are listed at once, the longest waiting first."""
MAX_TEXT = 100_000
"""Characters of a move or of a lookup's arguments."""
MAX_VERSION = 60


@dataclass(frozen=True)
class SentMove:
    """A move as a program sent it.

    Attributes:
        text: the move as JSON text, or whatever was sent in its place.
        number: which of the turn's tries it is, from 1, if the program says so: sent again, it gets its first result.
        version: what the program calls its version.
    """

    text: str
    number: int = 0
    version: str = ""

    @classmethod
    def parse(cls, sent: Any, text: str) -> SentMove:
        """Return the move in {move, try, version}; what is none of this counts as a move, and is refused as one."""
        if not isinstance(sent, dict) or "move" not in sent:
            return cls(text)
        number, version = sent.get("try"), sent.get("version")
        return cls(
            json.dumps(sent["move"], ensure_ascii=False),
            number if isinstance(number, int) else 0,
            version if isinstance(version, str) else "",
        )


@dataclass(frozen=True)
class _Table:
    """The turn's match now."""

    match: Match
    asking: Asking
    agent: Agent


def open_turns(program: Program, *, after: int = 0) -> list[ProgramTurn]:
    """Return the program's open turns, the longest waiting first, from the one after the turn with this key."""
    waiting = program.turns.filter(closed_at=None, deadline__gt=timezone.now(), pk__gt=after)
    return list(waiting.order_by("pk")[:MOST_SHOWN])


def turn_with(token: str) -> ProgramTurn:
    """Return the turn that a token opens.

    Raises:
        NotFound
    """
    turn = tokens.turn_with(token)
    if turn is None:
        raise NotFound(_("This token opens no turn."))
    return turn


def shown(turn: ProgramTurn) -> dict[str, Any] | None:
    """Return the turn as its program sees it, as plain data; None if the match has moved on."""
    table = _table_of(turn)
    if table is None:
        return None
    return {
        "token": tokens.token_of(turn),
        "seat": seat_id(turn.match_uid, turn.role),
        "turn": turn.answering,
        "deadline": turn.deadline,
        "seconds_left": round(turn.seconds_left(), 1),
        "tries_left": _tries_left(turn),
        **programs.shown(table.asking),
        "chat": [{"speaker": said.speaker, "words": said.words} for said in said_to(table.match, turn.role)],
    }


def seat_id(match_uid: uuid.UUID, role: str) -> str:
    """Return what names a seat in all its turns and its chat; two seats of a match have nothing in common."""
    return salted_hmac("programs.seat", f"{match_uid}/{role}").hexdigest()[:16]


def look_up(turn: ProgramTurn, name: str, arguments: Json, *, version: str = "") -> Json:
    """Return what a lookup finds, as plain data, and record it.

    Raises:
        Conflict: the turn is over.
        InvalidRequest: the lookup is not possible; nothing is lost.
    """
    text = storable(json.dumps(arguments))
    with transaction.atomic():
        turn = turns.locked(turn.pk)
        table = _open_table(turn)
        if sum(bool(attempt["tool"]) for attempt in turn.attempts) >= table.agent.settings.calls:
            raise InvalidRequest(_("No more lookups are possible in this turn."))
        result, problem, fault = None, None, None
        try:
            result = programs.as_data(programs.looked_up(table.asking, name, text))
        except (BadAnswer, Refused) as refusal:
            problem, fault = str(refusal), fault_of(refusal)
        _record(turn, tool=storable(name)[:60] or "?", text=text, problem=problem, fault=fault, version=version)
    if problem is not None:
        raise InvalidRequest(problem, tries_left=_tries_left(turn))
    return result


def move(turn: ProgramTurn, sent: SentMove) -> dict[str, Any]:
    """Take a program's move; a legal one closes the turn, and is made at once by the process that runs the match.

    Returns:
        {"accepted": True, "again": whether it had been accepted before}.

    Raises:
        Conflict: the turn is over.
        InvalidRequest: the move is not legal; its details say how many tries are left.
    """
    text = storable(sent.text)
    with transaction.atomic():
        turn = turns.locked(turn.pk)
        moves = [attempt for attempt in turn.attempts if not attempt["tool"]]
        again = moves[sent.number - 1] if 0 < sent.number <= len(moves) else moves[-1] if _accepted(moves) else None
        problem = again["problem"] if again is not None else None
        if again is None:
            table, fault = _open_table(turn), None
            try:
                legal_move(text, table.asking)
            except (BadAnswer, Refused) as refusal:
                problem, fault = str(refusal), fault_of(refusal)
            turn.closed_at = timezone.now() if problem is None or _tries_left(turn) <= 1 else None
            _record(turn, tool="", text=text, problem=problem, fault=fault, version=sent.version)
    if problem is not None:
        raise InvalidRequest(problem, tries_left=_tries_left(turn))
    return {"accepted": True, "again": again is not None}


def _accepted(moves: list[turns.Attempt]) -> bool:
    return bool(moves) and moves[-1]["problem"] is None


def _tries_left(turn: ProgramTurn) -> int:
    return max(0, turn.tries - sum(not attempt["tool"] for attempt in turn.attempts))


def _record(turn: ProgramTurn, **attempt: Any) -> None:
    attempt |= {"at": timezone.now().isoformat(), "version": storable(attempt["version"])[:MAX_VERSION]}
    turn.attempts = [*turn.attempts, attempt]
    turn.save(update_fields=["attempts", "closed_at"])


def too_long() -> InvalidRequest:
    return InvalidRequest(_("This is too long: at most {n} characters.").format(n=MAX_TEXT))


def storable(text: str) -> str:
    """Return text that a database can keep and that a record can hold."""
    if len(text) > MAX_TEXT:
        raise too_long()
    return text.replace("\0", "\ufffd").encode(errors="replace").decode()


def _open_table(turn: ProgramTurn) -> _Table:
    """Return the turn's match.

    Raises:
        Conflict: the turn is over.
    """
    if turn.closed_at is not None:
        raise Conflict(_("This turn is over."))
    if turn.deadline <= timezone.now():
        raise Conflict(_("The time for this turn is up."))
    table = _table_of(turn)
    if table is None:
        raise Conflict(_("The game has moved on."))
    return table


def _table_of(turn: ProgramTurn) -> _Table | None:
    match = Match.objects.filter(uid=turn.match_uid).first()
    play: Play | None = match.play() if match is not None else None
    if match is None or play is None or not play.awaits_answer(turn.role, turn.answering):
        return None
    agent = match.agents().get(turn.role)
    if agent is None:
        return None
    return _Table(match, programs.asking_of(play, turn.role, agent.settings, match.template_for(agent)), agent)
