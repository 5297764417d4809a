"""One decision of an agent: ask, read the answer, check it against the rules, correct and retry, then fall back."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from games.errors import Refused, UnknownGame
from games.interface import Game, MoveData, Role
from games.play import Play, check, plain_move, script_move
from games.strategies import MAX_CORRECTIONS, Question
from games.words import gettext as _
from llm_agents import looping, parsing, strategies
from llm_agents.agent import BY_RULES, PROGRAM, SCRIPT, AgentSpec
from llm_agents.breaker import BREAKERS
from llm_agents.calling import Policy
from llm_agents.errors import (
    AgentError,
    BadAgent,
    BadAnswer,
    CircuitOpen,
    NoLegalMove,
    ProviderError,
    RateLimited,
    Unavailable,
)
from llm_agents.providers.base import Request
from llm_agents.record import CallRecord
from llm_agents.strategies.asking import Asking
from llm_agents.talking import after_chat
from llm_agents.turn import AgentTurn, Asked, corrected, fault_of

FIRST_ROUND_WAIT, LONGEST_ROUND_WAIT = 1.0, 5.0
"""Seconds before agents with unavailable endpoints are all asked again; open circuits may take longer."""


@dataclass(frozen=True)
class Decision:
    """A legal move, and how it was obtained.

    Attributes:
        calls: every call made for the move, including calls of agents that failed.
        tries: answers requested from the agent that made the move.
        raw: a model's accepted answer.
        by: the author of the move, if not the seat's own agent ("anthropic:MODEL", "script:fair", "rules").
        rung: the author's place among the fallbacks, from 0; the fallback script comes after all agents.
        rule_breaks: the number of answers that were not legal moves, of all agents.
        notes: moves before it that leave the turn open and are still to be made.
    """

    move: MoveData
    calls: tuple[CallRecord, ...] = ()
    tries: int = 1
    raw: str | None = None
    by: str | None = None
    rung: int = 0
    rule_breaks: int = 0
    notes: tuple[MoveData, ...] = ()


async def decide(agent: AgentSpec, turn: AgentTurn, *, seconds: float | None = None) -> Decision:
    """Return the agent's move under the rules of the game, or its fallback's.

    An agent fails when its endpoint gives no answer despite retries, when the endpoint's circuit
    is open, or when none of its answers is a legal move; then its next fallback is asked.
    When all have failed, those whose endpoint is unavailable are asked again while the time lasts.
    If the rules turn an unusable answer into a move (`Game.forfeit`), that is the move.
    The fallback script moves for agents that gave no answer at all, unless its moves count as data.

    Args:
        seconds: the time limit of the whole decision; None: no limit, and nobody is asked again.

    Raises:
        NoLegalMove: the last agent's last try was not a legal move either, and there is no script.
        ProviderError: the last agent's endpoint gave no answer, and no script moves for that.
    """
    settings = agent.settings
    deadline = None if seconds is None else time.monotonic() + seconds
    policy = Policy(settings.call_seconds, settings.retries, deadline=deadline)
    remaining = [Asked(turn, each, rung, policy) for rung, each in enumerate((agent, *agent.fallbacks))]
    failure: AgentError | None = None
    unusable, rounds = False, 0
    while remaining:
        unavailable = []
        for asked in remaining:
            if asked.rung and policy.remaining() <= 0:
                break
            try:
                return await ask(asked, settings.tries_after_first)
            except (NoLegalMove, ProviderError, BadAgent) as error:
                failure = error
                unusable = unusable or isinstance(error, NoLegalMove)
                if isinstance(error, CircuitOpen | RateLimited | Unavailable):
                    unavailable.append(asked)
            finally:
                await turn.store_calls()
        remaining = unavailable if await _wait_for_endpoint(unavailable, rounds, policy, turn) else []
        rounds += 1
    forfeit = turn.play.game.forfeit(turn.play.state, turn.role) if unusable else None
    if forfeit is not None:
        return _decision(turn, forfeit, by=BY_RULES)
    if agent.script and (unusable or not settings.script_counts):
        return await ask(Asked(turn, AgentSpec(SCRIPT, agent.script), len(agent.fallbacks) + 1, policy), 0)
    assert failure is not None
    raise failure


async def _wait_for_endpoint(unavailable: Sequence[Asked], rounds: int, policy: Policy, turn: AgentTurn) -> bool:
    """Wait until an agent whose endpoint is unavailable may be asked again; False if nobody waits that long."""
    if not unavailable or policy.deadline is None:
        return False
    pause_left = min(BREAKERS.seconds_left(asked.agent.kind) for asked in unavailable)
    wait = max(pause_left, min(FIRST_ROUND_WAIT * 2**rounds, LONGEST_ROUND_WAIT)) * random.uniform(1, 1.2)
    if wait >= policy.remaining():
        return False
    until = time.monotonic() + wait
    while (wait := until - time.monotonic()) > 0:
        if not turn.still_wanted():
            return False
        await asyncio.sleep(min(wait, 0.5))
    return True


# ---- asking one agent --------------------------------------------------------------------------


async def ask(asked: Asked, tries_after_first: int) -> Decision:
    """Return the agent's move.

    Raises:
        NoLegalMove, ProviderError, BadAgent: it gave none.
    """
    turn, agent = asked.turn, asked.agent
    by = {"by": str(agent) if asked.rung else None, "rung": asked.rung}
    if agent.scripted:
        return _decision(turn, _scripted_move(agent.name, turn), **by)
    if agent.kind == PROGRAM:
        move, tries, raw = await turn.ask_program(asked)
        return _decision(turn, move, tries=tries, raw=raw, **by)
    if strategies.layout_of(turn.play.game, turn.role, agent.settings.strategy) == "tools":
        move, tries, raw = await looping.play_turn(asked)
        return _decision(turn, move, tries=tries, raw=raw, **by)
    for question in _extra_calls_of(agent, turn.play.game):
        if not _is_due(question, turn.play, turn.role):
            continue
        try:
            note, _tries, _raw = await _ask_question(asked, tries_after_first, question)
            await turn.make_note(note)
        except (NoLegalMove, Refused):
            continue
    move, tries, raw = await _ask_question(asked, tries_after_first)
    return _decision(turn, move, tries=tries, raw=raw, **by)


def _decision(turn: AgentTurn, move: MoveData, **how: Any) -> Decision:
    rule_breaks = sum(record.problem is not None for record in turn.calls)
    return Decision(move, tuple(turn.calls), rule_breaks=rule_breaks, notes=tuple(turn.notes), **how)


def _scripted_move(script: str, turn: AgentTurn) -> MoveData:
    try:
        move = script_move(turn.play, turn.role, script)
        check(turn.play, turn.role, move)
    except (Refused, UnknownGame) as refusal:
        raise NoLegalMove(str(refusal)) from None
    return move


async def _ask_question(
    asked: Asked, tries_after_first: int, question: Question | None = None
) -> tuple[MoveData, int, str]:
    """Return (move, tries, raw answer) for one question, or for the move.

    Raises:
        NoLegalMove, ProviderError, BadAgent
    """
    turn, asking = asked.turn, asked.asking(question)
    purpose = asking.question.purpose
    if record := await turn.recall(asking.question.reports):
        asking = replace(asking, reported=record.answer or "")
    if asking.question.check is not None and asking.play.game.told_as_published:
        tries_after_first = max(tries_after_first, MAX_CORRECTIONS)
    request = replace(
        _request_for(asked.agent, asking, turn, await turn.recall(asking.question.recalls)),
        on_text=turn.show if turn.on_text and purpose == "move" else None,
    )
    for number in range(1, tries_after_first + 2):
        answer = await asked.call(request, number, purpose=purpose)
        try:
            move, remarks = legal_move(answer.text, asking)
            if number <= MAX_CORRECTIONS and (untrue := problem_with(move, asking)):
                raise Refused(untrue)
        except (BadAnswer, Refused) as error:
            problem = str(error)
            answer.record(problem, fault_of(error))
        else:
            answer.record(remarks=remarks)
            return move, number, answer.text
        turn.retract()
        request = corrected(request, answer.text, asking.correction(problem))
    tries = _("No legal move in its only try.") if number == 1 else _("No legal move in {tries} tries.")
    raise NoLegalMove(f"{tries.format(tries=number)} {problem}", turn.calls)


def legal_move(text: str, asking: Asking) -> tuple[MoveData, dict[str, Any]]:
    """Return the legal move in an answer to a question, and its remarks.

    Raises:
        BadAnswer, Refused
    """
    play, role = asking.play, asking.role
    forms = asking.forms(play.forms(role))
    move_data, remarks = parsing.read_answer(text, forms, short=asking.settings.short, remarks=asking.remarks(play))
    _form, move = check(play, role, move_data)
    return plain_move(move), remarks


def problem_with(move: MoveData, asking: Asking) -> str:
    """Return what is factually wrong with a legal answer to a question that is checked; empty if nothing is."""
    check_facts, play = asking.question.check, asking.play
    if check_facts is None:
        return ""
    _form, filled = check(play, asking.role, move)
    return check_facts(play.game, play.state, asking.role, filled)


# ---- the requests ------------------------------------------------------------------------------


def first_request(agent: AgentSpec, turn: AgentTurn) -> Request:
    """Return the request of a model agent's first try.

    Raises:
        BadText: a text cannot be filled in.
    """
    asked = Asked(turn, agent, 0, Policy())
    if strategies.layout_of(turn.play.game, turn.role, agent.settings.strategy) == "tools":
        request = looping.first_request(asked)
    else:
        request = _request_for(agent, asked.asking(next(_due(agent, turn), None)), turn)
    return replace(request, on_text=turn.on_text)


def _due(agent: AgentSpec, turn: AgentTurn) -> Iterator[Question]:
    """Yield the calls before the move that the agent makes at this point of the match, in order."""
    questions = _extra_calls_of(agent, turn.play.game)
    return (question for question in questions if _is_due(question, turn.play, turn.role))


def _extra_calls_of(agent: AgentSpec, game: Game[Any, Any]) -> list[Question]:
    """Return the calls before the move that the agent makes at some point of a match."""
    modules = strategies.strategy_named(agent.settings.strategy, game).modules
    return [question for question in modules if question.purpose not in agent.settings.left_out]


def _is_due(question: Question, play: Play, role: Role) -> bool:
    return question.when is None or question.when(play.game, play.state, role)


def _request_for(agent: AgentSpec, asking: Asking, turn: AgentTurn, recalled: CallRecord | None = None) -> Request:
    """Return the request of a model agent's first try at one question, which the call `recalled` precedes."""
    messages = after_chat(
        strategies.messages(asking, turn.events, turn.answers, _question_and_answer(recalled)), turn.chat
    )
    schema = None
    if agent.settings.structured:
        forms = asking.worded_forms(asking.play, asking.play.forms(asking.role))
        schema = parsing.schema_of(forms, reasoning=asking.strategy.reasons)
    return Request(agent.name, messages, agent.parameters, schema=schema)


def _question_and_answer(recalled: CallRecord | None) -> tuple[str, str] | None:
    """Return the question of an earlier call, without later corrections, and its answer."""
    if recalled is None:
        return None
    question = recalled.messages[-1 - 2 * (recalled.try_number - 1)]["content"]
    return question, recalled.answer or ""
