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
from matches.models import Match, Seat, Turn
from opponents.services import keep_calls
from participants.states import State

MOST_ATTEMPTS = 5
"""How often a turn is begun before its agent counts as failed (a worker that dies counts once)."""
log = logging.getLogger(__name__)


def answer_turn(*, match_id: int, role: str, answering: int) -> None:
    """Answer one turn of an agent; gives up quietly when the match has moved on."""
    turn = Turn.objects.filter(match_id=match_id, role=role, answering=answering, closed_at=None).first()
    if turn is None:
        return
    seat = Seat.objects.get(match_id=match_id, role=role)
    spec = parse_spec(seat.agent)
    try:
        if spec.kind == "script" and not seat.delay:
            # Nothing to wait for: the player chooses under the match's own lock.
            services.submit_move(
                match_id=match_id, role=role, answering=answering, move=lambda play: script_move(play, role, spec.name)
            )
        else:
            _think(turn, seat, spec)
    except Stale:
        return
    except (AgentError, GameError) as failure:
        log.warning("agent %s failed in match %s: %s", seat.agent, match_id, type(failure).__name__)
        services.abandon_match(match_id=match_id, reason=State.OPPONENT_FAILED, role=role)


def _think(turn: Turn, seat: Seat, spec: AgentSpec) -> None:
    """Ask the agent while holding the turn's lease, then move."""
    with leases.lease(turn) as held:
        if not held:
            return
        if turn.attempts >= MOST_ATTEMPTS:
            raise AgentError("the turn was begun too often")
        match = Match.objects.get(pk=turn.match_id)
        play = match.play()
        if play.opened.get(turn.role) != turn.answering:
            return
        began = time.monotonic()
        calls: list[CallRecord] = []
        try:
            decision = _run(decide(spec, play, turn.role, match.log(), calls=calls))
        finally:
            keep_calls(match_uid=match.uid, role=turn.role, answering=turn.answering, calls=calls)
        time.sleep(max(0.0, seat.delay - (time.monotonic() - began)))
        services.submit_move(match_id=match.pk, role=turn.role, answering=turn.answering, move=decision.move)


def _run(thinking):
    """Wait in this thread for a coroutine of the process's background loop."""
    return asyncio.run_coroutine_threadsafe(thinking, background_loop()).result()


