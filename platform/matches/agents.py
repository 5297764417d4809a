"""An agent's turn: think under a lease, then move like everybody else."""

from __future__ import annotations

import asyncio
import logging
import time

from games.errors import GameError
from games.play import script_move
from llm_agents.agent import AgentSpec, decide, parse_spec
from llm_agents.errors import AgentError
from llm_agents.record import CallRecord
from matches import leases, services
from matches.announce import background_loop
from matches.errors import Stale
from matches.models import Match, Seat
from opponents.services import keep_calls
from participants.states import State

MOST_ATTEMPTS = 5
"""How often a turn is begun before its agent counts as failed (a worker that dies counts once)."""
log = logging.getLogger(__name__)


def answer_turn(*, match_id: int, role: str, answering: int) -> None:
    """Answer an agent's turn, and those that it is asked straight after; gives up quietly on a match that moved on."""
    seat = seat_of(match_id, role)
    spec = parse_spec(seat.agent)
    turn: int | None = answering
    try:
        while turn is not None:
            turn = _answer(seat, spec, turn)
    except Stale:
        return
    except (AgentError, GameError) as failure:
        log.warning("agent %s failed in match %s: %s", seat.agent, match_id, type(failure).__name__)
        services.abandon_match(match_id=match_id, reason=State.OPPONENT_FAILED, role=role)


def seat_of(match_id: int, role: str) -> Seat:
    return Seat.objects.get(match_id=match_id, role=role)


def _answer(seat: Seat, spec: AgentSpec, answering: int) -> int | None:
    """Answer one turn; returns the number of the next one that this role is asked at once."""
    if spec.kind == "script" and not seat.delay:
        # Nothing to wait for: the player chooses under the match's own lock.
        return services.submit_move(
            match_id=seat.match_id,
            role=seat.role,
            answering=answering,
            move=lambda play: script_move(play, seat.role, spec.name),
            goes_on=True,
        ).next
    return _think(seat, spec, answering)


def _think(seat: Seat, spec: AgentSpec, answering: int) -> int | None:
    """Ask the agent while holding the turn's lease, then move."""
    with leases.lease(match_id=seat.match_id, role=seat.role, answering=answering) as held:
        if held is None:
            return None
        if held.attempts > MOST_ATTEMPTS:
            raise AgentError("the turn was begun too often")
        match = Match.objects.get(pk=seat.match_id)
        play = match.play()
        if play.opened.get(seat.role) != answering:
            return None
        began = time.monotonic()
        calls: list[CallRecord] = []
        try:
            decision = _run(decide(spec, play, seat.role, match.log(), calls=calls))
        finally:
            keep_calls(match_uid=match.uid, role=seat.role, answering=answering, calls=calls)
        time.sleep(max(0.0, seat.delay - (time.monotonic() - began)))
        taken = services.submit_move(
            match_id=match.pk, role=seat.role, answering=answering, move=decision.move, goes_on=True
        )
        return taken.next


def _run(thinking):
    """Wait in this thread for a coroutine of the process's background loop."""
    return asyncio.run_coroutine_threadsafe(thinking, background_loop()).result()
