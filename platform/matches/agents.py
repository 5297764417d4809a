"""An agent's turn: whoever has to think does so under a lease; then it moves like everybody else."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from random import Random
from typing import Any, TypeVar

from django.db import close_old_connections

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
from matches.models import Agent, Lease, Match, seated_agents
from matches.pacing import human_delay
from opponents.endpoints import prices_now, refresh_if_old
from opponents.services import keep_calls, raw_answers
from opponents.spending import refuse_over
from participants.states import State

MOST_ATTEMPTS = 5
"""How often a turn is begun before its agent counts as failed (a worker that dies counts once)."""
WRITERS = 8
"""Threads that write what came of thinking."""
T = TypeVar("T")
log = logging.getLogger(__name__)


def answer_turn(*, match_uid: uuid.UUID, role: str, answering: int) -> None:
    """Answer an agent's turn and wait until that is done; see `begin_turn`."""
    thinking = begin_turn(match_uid=match_uid, role=role, answering=answering)
    if thinking is not None:
        thinking.result()


def begin_turn(*, match_uid: uuid.UUID, role: str, answering: int) -> Future[None] | None:
    """Answer an agent's turn, now or when it has thought; gives up quietly when the match has moved on.

    A scripted player that does not wait has moved when this returns. An agent that takes its time holds
    no thread: however many wait for a model that hangs, this process goes on with the turns of others.

    Returns:
        What is done when the thinking has led to a move or to its replacement; None if nobody thinks.
    """
    refresh_if_old()
    match_id, agents = seated_agents(match_uid)
    agent = agents[role]
    spec = parse_spec(agent.spec)
    if not spec.scripted or agent.delay:
        return _Thinking(match_id, role, agent, answering).begin()
    try:
        _move_at_once(match_id, role, spec.name, answering)
    except Stale:
        pass
    except (AgentError, GameError) as failure:
        _stand_in(match_id, role, agent, answering, failure)
    return None


def _move_at_once(match_id: int, role: str, script: str, answering: int) -> None:
    """A scripted player has nothing to wait for: it chooses under the match's own lock."""

    def choose(play: Play) -> MoveData:
        return script_move(play, role, script)

    services.submit_move(match_id=match_id, role=role, answering=answering, move=choose, keeps_moving=True)


def _stand_in(match_id: int, role: str, agent: Agent, answering: int, failure: Exception) -> None:
    """The agent failed, and nothing came of the ladder: the study's scripted player moves, or the match ends."""
    log.warning("agent %s failed in match %s: %s", agent.spec, match_id, type(failure).__name__)
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


def decide_turn(match: Match, play: Play, role: str, agent: Agent, answering: int) -> Decision:
    """What an agent decides about an open turn, under no lease and without moving; waits for it.

    Raises:
        AgentError, GameError: nothing came of it.
    """
    return _wait(_Question(match, play, role, agent, answering).decided())


class _Question:
    """What an agent is asked at its turn, read in a thread that may wait for the database.

    Raises:
        AgentError: a cap on spending is reached.
    """

    def __init__(self, match: Match, play: Play, role: str, agent: Agent, answering: int):
        self._match, self._play, self._role, self._agent, self._answering = match, play, role, agent, answering
        self._events = match.log()
        refuse_over(agent.settings.caps(), match_uid=match.uid, budget_of=match.budget_of)
        self._answers = earlier_answers(match, role, self._events)
        self._calls: list[CallRecord] = []

    async def decided(self) -> Decision:
        """What the agent, or whoever stands in for it, decides; its calls are kept whatever comes of them."""
        settings, match = self._agent.settings, self._match
        typed = settings.appears == "typed"
        draft = Draft(
            match.pk,
            self._role,
            self._answering,
            people=match.people() if typed else (),
            shows=words_of(self._play.forms(self._role)),
        )
        try:
            with draft:
                return await decide(
                    settings.spec(self._agent.spec),
                    self._play,
                    self._role,
                    self._events,
                    calls=self._calls,
                    template=match.texts.get("instructions"),
                    prompts=settings.prompts,
                    answers=self._answers,
                    ladder=settings.ladder(self._agent.spec),
                    on_text=draft.add if typed else None,
                    on_retract=draft.retract if typed else None,
                )
        finally:
            if self._calls:
                await _in_database(self._keep_calls)

    def held_back(self, decision: Decision) -> float:
        """Seconds from the question until the answer appears."""
        if self._agent.settings.appears != "delayed":
            return self._agent.delay
        others = [e.data["move"] for e in self._events if e.kind == "move" and e.data["role"] != self._role]
        words = others[-1].get("message") if others else None
        luck = Random(f"{self._match.seed}/{self._role}/{self._answering}/pace")
        return max(self._agent.delay, human_delay(decision.move, words if isinstance(words, str) else None, luck))

    def _keep_calls(self) -> None:
        keep_calls(
            match_uid=self._match.uid,
            role=self._role,
            answering=self._answering,
            calls=self._calls,
            prices=prices_now(),
            budget_of=self._match.budget_of,
        )


class _Thinking:
    """One turn of an agent that takes its time: begun in a worker's thread, thought about in the event loop."""

    def __init__(self, match_id: int, role: str, agent: Agent, answering: int):
        self._match_id, self._role, self._agent, self._answering = match_id, role, agent, answering

    def begin(self) -> Future[None] | None:
        """Take the turn's lease and begin; None when somebody else holds it or there is nothing to think about."""
        held = leases.take(match_id=self._match_id, role=self._role, answering=self._answering)
        if held is None:
            return None
        try:
            question = self._question(held)
        except (AgentError, GameError) as failure:
            self._finish(held, failure)
            return None
        except BaseException:
            leases.give_back(held)
            raise
        if question is None:
            leases.give_back(held)
            return None
        return asyncio.run_coroutine_threadsafe(self._think_and_move(held, question), background_loop())

    def _question(self, held: Lease) -> _Question | None:
        """What the agent is asked, if its turn is still open."""
        if held.attempts > MOST_ATTEMPTS:
            raise AgentError("the turn was begun too often")
        match = Match.objects.get(pk=self._match_id)
        play = match.play()
        if play.opened.get(self._role) != self._answering:
            return None
        return _Question(match, play, self._role, self._agent, self._answering)

    async def _think_and_move(self, held: Lease, question: _Question) -> None:
        began = time.monotonic()
        try:
            decision = await question.decided()
            await asyncio.sleep(question.held_back(decision) - (time.monotonic() - began))
            outcome: Decision | Exception = decision
        except (AgentError, GameError) as failure:
            outcome = failure
        except Exception as error:
            log.exception("the agent %s in match %s", self._agent.spec, self._match_id)
            outcome = error
        await _in_database(self._finish, held, outcome)

    def _finish(self, held: Lease, outcome: Decision | Exception) -> None:
        """Make the move, or what the study wants in its place; an error of the program leaves the turn to the sweep."""
        turn = {"match_id": self._match_id, "role": self._role, "answering": self._answering}
        try:
            if isinstance(outcome, Decision):
                services.submit_move(**turn, move=outcome.move, by=outcome.by)
            elif isinstance(outcome, AgentError | GameError):
                raise outcome
        except Stale:
            pass
        except (AgentError, GameError) as failure:
            _stand_in(self._match_id, self._role, self._agent, self._answering, failure)
        except Exception:
            log.exception("the move of %s in match %s was not written", self._agent.spec, self._match_id)
            close_old_connections()
        finally:
            leases.give_back(held)


def earlier_answers(match: Match, role: str, events: Sequence[Event]) -> dict[int, str]:
    """The role's accepted raw answers, by number of the move that each led to."""
    moves = [event.number for event in events if event.kind == "move" and event.data["role"] == role]
    answers = {}
    for answering, raw in raw_answers(match.uid, role):
        number = next((move for move in moves if move > answering), None)
        if number is not None:
            answers[number] = raw
    return answers


_writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="turn-writer")


async def _in_database(deed: Callable[..., T], *positional: Any) -> T:
    """Do what talks to the database in a thread that may wait for it."""
    return await asyncio.get_running_loop().run_in_executor(_writers, deed, *positional)


def _wait(thinking: Coroutine[Any, Any, T]) -> T:
    """Wait in this thread for a coroutine of the process's background loop."""
    return asyncio.run_coroutine_threadsafe(thinking, background_loop()).result()
