"""An agent's turn: think under a lease, then move like everybody else."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Coroutine
from typing import Any, TypeVar

from games.errors import GameError
from games.interface import MoveData
from games.play import Play, script_move
from llm_agents.agent import AgentSpec, decide, parse_spec
from llm_agents.errors import AgentError
from llm_agents.record import CallRecord
from matches import leases, services
from matches.announce import background_loop
from matches.errors import Stale
from matches.models import Agent, Match, seated_agents
from opponents.services import keep_calls
from participants.states import State

MOST_ATTEMPTS = 5
"""How often a turn is begun before its agent counts as failed (a worker that dies counts once)."""
T = TypeVar("T")
log = logging.getLogger(__name__)


def answer_turn(*, match_uid: uuid.UUID, role: str, answering: int) -> None:
    """Answer an agent's turn; gives up quietly when the match has moved on."""
    match_id, agents = seated_agents(match_uid)
    agent = agents[role]
    spec = parse_spec(agent.spec)
    try:
        if spec.scripted and not agent.delay:
            _move_at_once(match_id, role, spec, answering)
        else:
            _think_and_move(match_id, role, agent, spec, answering)
    except Stale:
        return
    except (AgentError, GameError) as failure:
        log.warning("agent %s failed in match %s: %s", agent.spec, match_id, type(failure).__name__)
        services.abandon_match(match_id=match_id, reason=State.OPPONENT_FAILED, role=role)


def _move_at_once(match_id: int, role: str, spec: AgentSpec, answering: int) -> None:
    """A scripted player has nothing to wait for: it chooses under the match's own lock."""

    def choose(play: Play) -> MoveData:
        return script_move(play, role, spec.name)

    services.submit_move(match_id=match_id, role=role, answering=answering, move=choose, keeps_moving=True)


def _think_and_move(match_id: int, role: str, agent: Agent, spec: AgentSpec, answering: int) -> None:
    """Ask the agent while holding the turn's lease, then move."""
    with leases.lease(match_id=match_id, role=role, answering=answering) as held:
        if held is None:
            return
        if held.attempts > MOST_ATTEMPTS:
            raise AgentError("the turn was begun too often")
        match = Match.objects.get(pk=match_id)
        play = match.play()
        if play.opened.get(role) != answering:
            return
        began = time.monotonic()
        calls: list[CallRecord] = []
        try:
            template = match.texts.get("instructions")
            decision = _run(decide(spec, play, role, match.log(), calls=calls, template=template))
        finally:
            keep_calls(match_uid=match.uid, role=role, answering=answering, calls=calls)
        time.sleep(max(0.0, agent.delay - (time.monotonic() - began)))
        services.submit_move(match_id=match_id, role=role, answering=answering, move=decision.move)


def _run(thinking: Coroutine[Any, Any, T]) -> T:
    """Wait in this thread for a coroutine of the process's background loop."""
    return asyncio.run_coroutine_threadsafe(thinking, background_loop()).result()
