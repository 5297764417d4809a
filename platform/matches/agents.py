"""An agent's turn in a live match: models think under a lease; then the agent moves like any other player."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Coroutine
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

from games.errors import GameError
from games.interface import MoveData
from games.play import Play, form_for, script_move
from games.words import in_language
from llm_agents.agent import spec_of
from llm_agents.deciding import Decision
from llm_agents.errors import AgentError
from matches import leases, services
from matches.asking import Host, Question, question_for
from matches.channels import background_loop
from matches.drafts import Draft
from matches.errors import Stale
from matches.forms import as_posted, text_fields
from matches.models import Lease, Match, line_up_of
from matches.pacing import human_delay
from matches.writers import OUTAGE_ERRORS, Writers
from opponents.agents import Agent
from opponents.endpoints import current_prices, refresh_if_old
from opponents.services import mark_played

MAX_ATTEMPTS = 5
"""How many times a turn may be started before its agent counts as failed; each crash of a worker counts once."""
log = logging.getLogger(__name__)
_writers = Writers("turn-writer", 6)


def answer_turn(*, match_uid: uuid.UUID, role: str, answering: int) -> None:
    """Answer an agent's turn and wait until it is done; see `begin_turn`."""
    future = begin_turn(match_uid=match_uid, role=role, answering=answering)
    if future is not None:
        future.result()


def begin_turn(*, match_uid: uuid.UUID, role: str, answering: int) -> Future[None] | None:
    """Answer an agent's turn, now or after thinking; do nothing if the match has moved on.

    A script without delay has already moved when this returns. A thinking agent occupies no thread, so calls that
    hang never keep this process from other turns.

    Returns:
        A future that is done once the agent or its replacement has moved; None if no thinking is needed.
    """
    line_up = line_up_of(match_uid)
    match_id = line_up.match_id
    agent = line_up.agents.get(role) or Match.objects.get(pk=match_id).agents().get(role)
    if agent is None:  # its participant is back
        return None
    refresh_if_old(*agent.specs)
    spec = spec_of(agent.spec)
    if not spec.scripted or agent.delay or line_up.paced:
        return _Thinking(match_id, role, agent, answering).begin()

    def choose(play: Play) -> MoveData:
        with in_language(line_up.language):
            return script_move(play, role, spec.name)

    try:
        services.submit_move(
            match_id=match_id, role=role, answering=answering, move=choose, scripts_after=services.MOST_IN_WORKER
        )
    except Stale:
        pass
    except (AgentError, GameError) as failure:
        _replace(match_id, role, agent, answering, failure)
    return None


def decide_turn(match: Match, play: Play, role: str, agent: Agent) -> Decision:
    """Return an agent's decision about an open turn, without a lease; the caller makes the move.

    Raises:
        AgentError, GameError: the agent and its fallbacks gave no move.
    """
    question = question_for(
        match, play, role, agent, Host(_writers, current_prices), template=match.template_for(agent)
    )
    decision = asyncio.run_coroutine_threadsafe(_decide_with_draft(question), background_loop()).result()
    if question.played_call is not None:
        mark_played(question.played_call)
    return decision


def _replace(match_id: int, role: str, agent: Agent, answering: int, failure: Exception) -> None:
    """Replace an agent that failed together with all of its fallbacks."""
    log.warning("agent %s failed in match %s: %s", agent.spec, match_id, type(failure).__name__)
    with suppress(Stale):
        services.replace_agent(match_id=match_id, role=role, answering=answering)


async def _decide_with_draft(question: Question) -> Decision:
    """Return the decision, showing drafts of it to participants if the study asks for that and pages may show them."""
    match, role = question.match, question.role
    shows_draft = question.agent.settings.appears == "typed" and match.disclosure().shows_seats
    draft = Draft(
        match.pk,
        role,
        question.answering,
        people=match.people() if shows_draft else (),
        shows=text_fields(question.play.forms(role)),
    )
    if shows_draft:
        question.on_text, question.on_retract = draft.add, draft.retract
    with draft:
        return await question.decide()


def _delay(question: Question, outcome: Decision | Exception) -> float:
    """Return the seconds from the question until the answer, or its replacement, appears.

    In a paced match, they are drawn in the same way whatever the agent and its settings.
    """
    agent, match, play, role = question.agent, question.match, question.play, question.role
    if not match.paced and (isinstance(outcome, Exception) or agent.settings.appears != "delayed"):
        return 0.0 if isinstance(outcome, Exception) else agent.delay
    move = _fallback_move(question) if isinstance(outcome, Exception) else outcome.move
    other_moves = [e.data["move"] for e in question.events if e.kind == "move" and e.data["role"] != role]
    message = other_moves[-1].get("message") if other_moves else None
    seconds = human_delay(
        move,
        message if isinstance(message, str) else None,
        Random(f"{match.seed}/{role}/{question.answering}/pace"),
        fields=len(as_posted(form_for(play.forms(role), move).model, move)),
    )
    return seconds if match.paced else max(agent.delay, seconds)


def _fallback_move(question: Question) -> MoveData:
    """Return the move of the fallback script; empty if there is none."""
    script = question.agent.settings.script
    with suppress(GameError):
        return script_move(question.play, question.role, script) if script else {}
    return {}


class _Thinking:
    """One turn of a thinking agent: started in a worker's thread, continued in the event loop."""

    def __init__(self, match_id: int, role: str, agent: Agent, answering: int):
        self._match_id, self._role, self._agent, self._answering = match_id, role, agent, answering

    def begin(self) -> Future[None] | None:
        """Take the turn's lease and start; return None if another worker has it or there is nothing to answer."""
        lease = leases.take(match_id=self._match_id, role=self._role, answering=self._answering)
        if lease is None:
            return None
        thinking = None
        try:
            thinking = self._thinking(lease)
        finally:
            if thinking is None:
                leases.give_back(lease)
        return None if thinking is None else asyncio.run_coroutine_threadsafe(thinking, background_loop())

    def _thinking(self, lease: Lease) -> Coroutine[Any, Any, None] | None:
        """Return what is left to do in the event loop; None if the turn is no longer open."""
        match = Match.objects.get(pk=self._match_id)
        play = match.play()
        if not play.awaits_answer(self._role, self._answering):
            return None
        host = Host(_writers, current_prices, on_note=partial(leases.renumber, lease))
        template = match.template_for(self._agent)
        try:
            if lease.attempts > MAX_ATTEMPTS:
                raise AgentError("the turn was started too often")
            question = question_for(match, play, self._role, self._agent, host, template=template)
        except (AgentError, GameError) as failure:
            return self._conclude(lease, Question(play, self._role, match, self._agent, host), failure)
        return self._decide(lease, question)

    async def _decide(self, lease: Lease, question: Question) -> None:
        started_at = time.monotonic()
        outcome: Decision | Exception
        try:
            outcome = await _decide_with_draft(question)
        except Exception as error:  # noqa: BLE001  (interpreted where the database is available)
            outcome = error
        await self._conclude(lease, question, outcome, elapsed=time.monotonic() - started_at)

    async def _conclude(
        self, lease: Lease, question: Question, outcome: Decision | Exception, *, elapsed: float = 0
    ) -> None:
        await asyncio.sleep(_delay(question, outcome) - elapsed)
        await _writers.retry(self._finish, lease, question, outcome)

    def _finish(self, lease: Lease, question: Question, outcome: Decision | Exception) -> None:
        """Make the move, or apply the study's fallback; after an internal error, the sweep retries the turn."""
        try:
            self._move(question, outcome)
        except OUTAGE_ERRORS:
            raise
        except Exception:
            log.exception("the turn of %s in match %s failed", self._agent.spec, self._match_id)
        leases.give_back(lease)

    def _move(self, question: Question, outcome: Decision | Exception) -> None:
        try:
            if isinstance(outcome, Exception):
                raise outcome
            question.move(outcome)
        except Stale:
            pass
        except (AgentError, GameError) as failure:
            _replace(self._match_id, self._role, self._agent, question.answering, failure)
