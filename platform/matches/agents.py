"""An agent's turn: think under a lease, then move like everybody else."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Coroutine, Sequence
from random import Random
from typing import Any, TypeVar

from games.errors import GameError
from games.interface import Event, MoveData
from games.play import Play, script_move
from llm_agents.agent import Decision, decide, parse_spec
from llm_agents.errors import AgentError
from llm_agents.record import CallRecord
from matches import leases, services
from matches.announce import background_loop
from matches.drafts import Draft, words_of
from matches.errors import Stale
from matches.models import Agent, Match, seated_agents
from matches.pacing import human_delay
from opponents.endpoints import prices_now, refresh_if_old
from opponents.services import keep_calls, raw_answers
from opponents.spending import refuse_over
from participants.states import State

MOST_ATTEMPTS = 5
"""How often a turn is begun before its agent counts as failed (a worker that dies counts once)."""
T = TypeVar("T")
log = logging.getLogger(__name__)


def answer_turn(*, match_uid: uuid.UUID, role: str, answering: int) -> None:
    """Answer an agent's turn; gives up quietly when the match has moved on."""
    refresh_if_old()
    match_id, agents = seated_agents(match_uid)
    agent = agents[role]
    spec = parse_spec(agent.spec)
    try:
        if spec.scripted and not agent.delay:
            _move_at_once(match_id, role, spec.name, answering)
        else:
            _think_and_move(match_id, role, agent, answering)
    except Stale:
        return
    except (AgentError, GameError) as failure:
        log.warning("agent %s failed in match %s: %s", agent.spec, match_id, type(failure).__name__)
        _give_up(match_id, role, agent, answering)


def _move_at_once(match_id: int, role: str, script: str, answering: int) -> None:
    """A scripted player has nothing to wait for: it chooses under the match's own lock."""

    def choose(play: Play) -> MoveData:
        return script_move(play, role, script)

    services.submit_move(match_id=match_id, role=role, answering=answering, move=choose, keeps_moving=True)


def _give_up(match_id: int, role: str, agent: Agent, answering: int) -> None:
    """Nothing came of the ladder either: the study's scripted player moves, or the match ends."""
    script = agent.settings.script
    try:
        if script:
            services.submit_move(
                match_id=match_id,
                role=role,
                answering=answering,
                move=lambda play: script_move(play, role, script),
                by=f"script:{script}",
            )
            return
    except Stale:
        return
    except GameError:
        log.warning("scripted player %s made no legal move in match %s", script, match_id)
    services.abandon_match(match_id=match_id, reason=State.OPPONENT_FAILED, role=role)


def _think_and_move(match_id: int, role: str, agent: Agent, answering: int) -> None:
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
        decision = _decide(match, play, role, agent, answering)
        time.sleep(max(0.0, _held_back(match, play, role, agent, decision) - (time.monotonic() - began)))
        services.submit_move(match_id=match_id, role=role, answering=answering, move=decision.move, by=decision.by)


def _held_back(match: Match, play: Play, role: str, agent: Agent, decision: Decision) -> float:
    """Seconds from the question until the answer appears."""
    if agent.settings.appears != "delayed":
        return agent.delay
    others = [event.data["move"] for event in match.log() if event.kind == "move" and event.data["role"] != role]
    words = others[-1].get("message") if others else None
    luck = Random(f"{match.seed}/{role}/{play.opened[role]}/pace")
    return max(agent.delay, human_delay(decision.move, words if isinstance(words, str) else None, luck))


def _decide(match: Match, play: Play, role: str, agent: Agent, answering: int) -> Decision:
    """What the agent, or whoever stands in for it, decides; its calls are kept whatever comes of them."""
    settings, events = agent.settings, match.log()
    refuse_over(settings.caps(), match_uid=match.uid, budget_of=match.budget_of)
    calls: list[CallRecord] = []
    typed = settings.appears == "typed"
    draft = Draft(match.pk, role, answering, people=match.people() if typed else (), shows=words_of(play.forms(role)))
    try:
        with draft:
            return _run(
                decide(
                    settings.spec(agent.spec),
                    play,
                    role,
                    events,
                    calls=calls,
                    template=match.texts.get("instructions"),
                    prompts=settings.prompts,
                    answers=earlier_answers(match, role, events),
                    ladder=settings.ladder(agent.spec),
                    on_text=draft.add if typed else None,
                    on_retract=draft.retract if typed else None,
                )
            )
    finally:
        keep_calls(
            match_uid=match.uid,
            role=role,
            answering=answering,
            calls=calls,
            prices=prices_now(),
            budget_of=match.budget_of,
        )


def earlier_answers(match: Match, role: str, events: Sequence[Event]) -> dict[int, str]:
    """The role's accepted raw answers, by number of the move that each led to."""
    moves = [event.number for event in events if event.kind == "move" and event.data["role"] == role]
    answers = {}
    for answering, raw in raw_answers(match.uid, role):
        number = next((move for move in moves if move > answering), None)
        if number is not None:
            answers[number] = raw
    return answers


def _run(thinking: Coroutine[Any, Any, T]) -> T:
    """Wait in this thread for a coroutine of the process's background loop."""
    return asyncio.run_coroutine_threadsafe(thinking, background_loop()).result()
