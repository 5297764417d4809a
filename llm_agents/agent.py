"""One decision of an agent: ask, read the answer, check it against the rules, correct and retry, then fall back."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from games.errors import Refused, UnknownGame
from games.interface import Event, Game, MoveData, Role
from games.play import Play, check, plain_move, script_move, submit
from games.strategies import Purpose, Question
from games.words import gettext as _
from llm_agents import looping, parsing, strategies
from llm_agents.breaker import BREAKERS
from llm_agents.calling import Attempt, Policy, call
from llm_agents.endpoints import PRESETS, endpoint, endpoint_exists
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
from llm_agents.hooks import Hooks
from llm_agents.providers.base import ChatMessage, Completion, Provider, Request
from llm_agents.record import CallRecord
from llm_agents.strategies.asking import Asking

SCRIPT = "script"
BY_RULES = "rules"
"""The author of moves that the rules derive from unusable answers, in logs and datasets."""
FIRST_ROUND_WAIT, LONGEST_ROUND_WAIT = 1.0, 5.0
"""Seconds before agents with unavailable endpoints are all asked again; open circuits may take longer."""


@dataclass(frozen=True)
class AgentSpec:
    """The agent that plays a seat.

    Attributes:
        kind: "script", or an endpoint's name.
        name: the name of the scripted player or the model.
        strategy: how a model is asked; None uses the game's default.
        parameters: sampling parameters of a model's calls (temperature, max_tokens, seed…).
        persona: who a model is told to be.
        structured: enforce the JSON schema of the move, where the endpoint supports it.
        short: ask a model only for the fewest values that determine its move, if the game has such a form.
        plain_tools: a model calls tools in plain JSON, whatever its endpoint supports.
        calls: the maximum number of calls of a model in one conversation of a turn with tools.
        restarts: how often such a conversation may start again if it ends without a submission.
        left_out: purposes of the calls before the move that are skipped, although the strategy has them.
    """

    kind: str
    name: str
    strategy: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    persona: str | None = None
    structured: bool = False
    short: bool = False
    plain_tools: bool = False
    calls: int = 40
    restarts: int = 10
    left_out: tuple[str, ...] = ()

    @property
    def scripted(self) -> bool:
        return self.kind == SCRIPT

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def is_scripted(text: str) -> bool:
    """Return whether `text` names a scripted player, whether or not it exists."""
    return text.startswith(f"{SCRIPT}:")


def spec_of(text: str) -> AgentSpec:
    """Return the agent with the name `text`, whether or not its endpoint still exists."""
    kind, _colon, name = text.partition(":")
    return AgentSpec(kind, name)


def parse_spec(text: str, game: type[Game[Any, Any]] | Game[Any, Any] | None = None) -> AgentSpec:
    """Return the agent with the name `text`, such as "script:fair", "openai:MODEL" or "ENDPOINT:MODEL".

    Args:
        game: the game to be played; a scripted player must be one of its own.

    Raises:
        BadAgent: the endpoint, name or scripted player is missing or unknown; the message lists the known ones.
    """
    kind, colon, name = text.partition(":")
    if not colon or not name.strip() or (kind != SCRIPT and not endpoint_exists(kind)):
        valid_forms = ", ".join([f"{SCRIPT}:NAME", *(f"{preset}:MODEL" for preset in PRESETS)])
        raise BadAgent(_("“{words}” is not a valid agent; use {known}.").format(words=text, known=valid_forms))
    if game is not None and kind == SCRIPT and name not in game.scripts:
        raise BadAgent(
            _("{game} has no scripted player “{name}”; use one of {names}.").format(
                game=game.key, name=name, names=", ".join(sorted(game.scripts))
            )
        )
    return spec_of(text)


@dataclass(frozen=True)
class Ladder:
    """An agent's fallbacks, and how long each agent is tried.

    Attributes:
        agents: in order; the seat's own always comes first, even if it is not listed.
        tries_after_first: how often each agent is asked again after an answer that is not a legal move.
        call_seconds: the time limit of one call.
        retries: the retries of each try, after calls that failed.
        total_seconds: the time limit of the whole decision; None: no limit.
        script: the fallback script, which moves when all agents have failed; None: there is none.
        script_counts: the script's moves are data: the value of an unusable answer. The script then does not move for
            agents that gave no answer at all.
    """

    agents: tuple[AgentSpec, ...] = ()
    tries_after_first: int = 3
    call_seconds: float = 60.0
    retries: int = 2
    total_seconds: float | None = None
    script: str | None = None
    script_counts: bool = False


@dataclass(frozen=True)
class Decision:
    """A legal move, and how it was obtained.

    Attributes:
        calls: every call made for the move, including calls of agents that failed.
        tries: answers requested from the agent that made the move.
        raw: a model's accepted answer.
        by: the author of the move, if not the seat's own agent ("anthropic:MODEL", "script:fair", "rules").
        rung: the author's place in the ladder, from 0; the fallback script comes after all agents.
        rule_breaks: the number of answers that were not legal moves, of all agents.
        notes: moves before it that leave the turn open and are still to be made; empty if hooks made them.
    """

    move: MoveData
    calls: tuple[CallRecord, ...] = ()
    tries: int = 1
    raw: str | None = None
    by: str | None = None
    rung: int = 0
    rule_breaks: int = 0
    notes: tuple[MoveData, ...] = ()


async def decide(
    spec: AgentSpec,
    play: Play,
    role: Role,
    events: Sequence[Event],
    *,
    calls: list[CallRecord] | None = None,
    template: str | None = None,
    prompts: Mapping[str, Any] | None = None,
    answers: Mapping[int, str] | None = None,
    provider: Provider | None = None,
    tries_after_first: int = 3,
    timeout: float = 60.0,
    ladder: Ladder | None = None,
    on_text: Callable[[str], None] | None = None,
    on_retract: Callable[[], None] | None = None,
    hooks: Hooks | None = None,
    still_wanted: Callable[[], bool] | None = None,
) -> Decision:
    """Return the agent's move under the rules of the game, or its fallback's.

    An agent fails when its endpoint gives no answer despite retries, when the endpoint's circuit
    is open, or when none of its answers is a legal move; then the next agent of the ladder is asked.
    When all have failed, those whose endpoint is unavailable are asked again while the ladder's time lasts.
    If the rules turn an unusable answer into a move (`Game.forfeit`), that is the move.

    Args:
        events: the match's log so far.
        calls: filled with a record of each call as it is made, also when the decision fails.
        template: the study's own instruction text.
        prompts: the study's own prompt texts.
        answers: the agent's earlier raw answers, by number of the move event they led to.
        provider: makes all calls; None: each agent's endpoint.
        tries_after_first, timeout: those of a ladder without fallbacks, if no `ladder` is given.
        on_text: if given, answers are streamed, and this is called with each new piece of text.
        on_retract: called when the pieces since its last call belong to an answer that does not count.
        hooks: those of the code that runs the match; None: nothing is asked or stored early, and notes are returned.
        still_wanted: returns False once nobody is waiting any longer for an unavailable endpoint.

    Raises:
        NoLegalMove: the last agent's last try was not a legal move either, and there is no script.
        ProviderError: the last agent's endpoint gave no answer, and no script moves for that.
    """
    ladder = ladder or Ladder(tries_after_first=tries_after_first, call_seconds=timeout)
    deadline = None if ladder.total_seconds is None else time.monotonic() + ladder.total_seconds
    policy = Policy(ladder.call_seconds, ladder.retries, deadline=deadline)
    process = DecisionProcess(
        play, role, events, calls, template, prompts, answers, provider, on_text, on_retract, hooks
    )
    agents = ladder.agents if ladder.agents[:1] == (spec,) else (spec, *ladder.agents)
    remaining = list(enumerate(agents))
    failure: AgentError | None = None
    unusable, rounds = False, 0
    while remaining:
        unavailable = []
        for position, agent in remaining:
            if position and policy.remaining() <= 0:
                break
            try:
                return await process.ask(agent, position, ladder.tries_after_first, policy)
            except (NoLegalMove, ProviderError, BadAgent) as error:
                failure = error
                unusable = unusable or isinstance(error, NoLegalMove)
                if isinstance(error, CircuitOpen | RateLimited | Unavailable):
                    unavailable.append((position, agent))
            finally:
                await process.store_calls()
        remaining = unavailable if await _wait_for_endpoint(unavailable, rounds, policy, still_wanted) else []
        rounds += 1
    forfeit = play.game.forfeit(process.play.state, role) if unusable else None
    if forfeit is not None:
        return process.forfeited(forfeit)
    if ladder.script is not None and (unusable or not ladder.script_counts):
        return await process.ask(AgentSpec(SCRIPT, ladder.script), len(agents), 0, policy)
    assert failure is not None
    raise failure


async def _wait_for_endpoint(
    unavailable: Sequence[tuple[int, AgentSpec]], rounds: int, policy: Policy, still_wanted: Callable[[], bool] | None
) -> bool:
    """Wait until an agent whose endpoint is unavailable may be asked again; False if nobody waits that long."""
    if not unavailable or policy.deadline is None:
        return False
    pause_left = min(BREAKERS.seconds_left(agent.kind) for _position, agent in unavailable)
    wait = max(pause_left, min(FIRST_ROUND_WAIT * 2**rounds, LONGEST_ROUND_WAIT)) * random.uniform(1, 1.2)
    if wait >= policy.remaining():
        return False
    until = time.monotonic() + wait
    while (wait := until - time.monotonic()) > 0:
        if still_wanted is not None and not still_wanted():
            return False
        await asyncio.sleep(min(wait, 0.5))
    return True


def wording(
    agent: AgentSpec, *, template: str | None = None, prompts: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the agent's wording, as arguments of `strategies.messages` and similar functions."""
    return {
        "strategy": agent.strategy,
        "template": template,
        "persona": agent.persona,
        "prompts": prompts,
        "short": agent.short,
    }


def first_request(
    agent: AgentSpec,
    play: Play,
    role: Role,
    events: Sequence[Event],
    *,
    template: str | None = None,
    prompts: Mapping[str, Any] | None = None,
    answers: Mapping[int, str] | None = None,
    on_text: Callable[[str], None] | None = None,
) -> Request:
    """Return the request of a model agent's first try; arguments as for `decide`.

    Raises:
        BadText: a text cannot be filled in.
    """
    wording_options = wording(agent, template=template, prompts=prompts)
    if strategies.layout_of(play.game, role, agent.strategy) == "tools":
        return looping.first_request(agent, strategies.asking(play, role, **wording_options), on_text)
    question = next(iter(due(play, role, agent)), None)
    return request_for(agent, play, role, events, question, answers=answers, on_text=on_text, **wording_options)


def due(play: Play, role: Role, agent: AgentSpec) -> tuple[Question, ...]:
    """Return the calls before the move that the agent's strategy makes at this point of the match, in order."""
    return tuple(question for question in extra_calls_of(agent, play.game) if _is_due(question, play, role))


def extra_calls_of(agent: AgentSpec, game: Game[Any, Any]) -> tuple[Question, ...]:
    """Return the calls before the move that the agent makes at some point of a match."""
    modules = strategies.strategy_named(agent.strategy, game).modules
    return tuple(question for question in modules if question.purpose not in agent.left_out)


def _is_due(question: Question, play: Play, role: Role) -> bool:
    return question.when is None or question.when(play.game, play.state, role)


def request_for(
    agent: AgentSpec,
    play: Play,
    role: Role,
    events: Sequence[Event],
    question: Question | None,
    *,
    answers: Mapping[int, str] | None = None,
    on_text: Callable[[str], None] | None = None,
    recalled: CallRecord | None = None,
    **wording_options: Any,
) -> Request:
    """Return the request of a model agent's first try at one question.

    Args:
        recalled: the earlier call that precedes it.
    """
    messages = strategies.messages(
        play,
        role,
        events,
        answers=answers,
        question=question,
        recalled=_question_and_answer(recalled),
        **wording_options,
    )
    schema = None
    if agent.structured:
        asking = strategies.asking(play, role, question=question, **wording_options)
        schema = parsing.schema_of(asking.worded_forms(play, play.forms(role)), reasoning=asking.strategy.reasons)
    return Request(agent.name, messages, agent.parameters, schema=schema, on_text=on_text)


def _question_and_answer(recalled: CallRecord | None) -> tuple[str, str] | None:
    """Return the question of an earlier call, without later corrections, and its answer."""
    if recalled is None:
        return None
    question = recalled.messages[-1 - 2 * (recalled.try_number - 1)]["content"]
    return question, recalled.answer or ""


def _no_legal_move(tries: int) -> str:
    if tries == 1:
        return _("No legal move in its only try.")
    return _("No legal move in {tries} tries.").format(tries=tries)


class DecisionProcess:
    """One decision: asks one agent after another and collects their calls."""

    def __init__(
        self,
        play: Play,
        role: Role,
        events: Sequence[Event],
        calls: list[CallRecord] | None,
        template: str | None,
        prompts: Mapping[str, Any] | None,
        answers: Mapping[int, str] | None,
        provider: Provider | None,
        on_text: Callable[[str], None] | None,
        on_retract: Callable[[], None] | None,
        hooks: Hooks | None,
    ):
        self.play, self.role = play, role
        self._events, self._template, self._prompts, self._answers = events, template, prompts, answers
        self._provider, self._hooks = provider, hooks
        self.draft = _Draft(on_text, on_retract)
        self._calls = calls
        self._records: list[CallRecord] = []
        self._stored = 0
        self._notes: list[MoveData] = []

    async def ask(self, agent: AgentSpec, position: int, tries_after_first: int, policy: Policy) -> Decision:
        """Return the agent's move.

        Raises:
            NoLegalMove, ProviderError, BadAgent: it gave none.
        """
        author = str(agent) if position else None
        if agent.scripted:
            move = _scripted(agent, self.play, self.role)
            return self._decision(move, 1, None, author, position)
        if strategies.layout_of(self.play.game, self.role, agent.strategy) == "tools":
            move, tries, text = await looping.play_turn(self, agent, position, policy)
            return self._decision(move, tries, text, author, position)
        for question in extra_calls_of(agent, self.play.game):
            if not _is_due(question, self.play, self.role):
                continue
            try:
                note, _tries, _raw = await self._ask_question(agent, position, tries_after_first, policy, question)
                await self.note(note)
            except (NoLegalMove, Refused):
                continue
        move, tries, raw = await self._ask_question(agent, position, tries_after_first, policy, None)
        return self._decision(move, tries, raw, author, position)

    async def _ask_question(
        self, agent: AgentSpec, position: int, tries_after_first: int, policy: Policy, question: Question | None
    ) -> tuple[MoveData, int, str]:
        """Return (move, tries, raw answer) for one question; arguments as for `ask`.

        Raises:
            NoLegalMove, ProviderError, BadAgent
        """
        wording_options = self.wording(agent)
        asking = strategies.asking(self.play, self.role, question=question, **wording_options)
        request = request_for(
            agent,
            self.play,
            self.role,
            self._events,
            asking.question,
            answers=self._answers,
            on_text=self.draft.add if self.draft.enabled and asking.question.purpose == "move" else None,
            recalled=await self._latest(asking.question.recalls),
            **wording_options,
        )
        for number in range(1, tries_after_first + 2):
            recorder = CallRecorder(self, agent, request.messages, position, number, purpose=asking.question.purpose)
            completion = await self.call(agent, request, policy, recorder)
            try:
                move, remarks = legal_move(completion.text, asking)
            except (BadAnswer, Refused) as error:
                problem = str(error)
                fault = "unreadable" if isinstance(error, BadAnswer) else "illegal"
            else:
                recorder.answer(remarks=remarks)
                return move, number, completion.text
            recorder.answer(problem, fault)
            self.draft.retract()
            reply = completion.text.strip() or "(no answer)"
            request = replace(
                request,
                messages=[
                    *request.messages,
                    ChatMessage(role="assistant", content=reply),
                    ChatMessage(role="user", content=asking.correction(problem)),
                ],
            )
        raise NoLegalMove(f"{_no_legal_move(number)} {problem}", self._records)

    async def call(self, agent: AgentSpec, request: Request, policy: Policy, recorder: CallRecorder) -> Completion:
        """Make one call, after storing the earlier ones and reserving what it may cost.

        Raises:
            AgentError
        """
        await self.store_calls()
        if self._hooks is not None:
            await self._hooks.reserve(agent, request, policy)
        return await call(agent.kind, request, policy=policy, on_attempt=recorder, provider=self._provider)

    async def note(self, move: MoveData) -> None:
        """Make a legal move that leaves the turn open.

        Raises:
            GameError
        """
        await self.store_calls()
        if self._hooks is not None:
            self.play = await self._hooks.note(move)
            return
        self.play, _events = submit(self.play, self.role, move)
        self._notes.append(move)

    async def _latest(self, purposes: Sequence[Purpose]) -> CallRecord | None:
        if not purposes:
            return None
        for record in reversed(self._records):
            if record.purpose in purposes and record.accepted:
                return record
        return None if self._hooks is None else await self._hooks.latest(purposes)

    def forfeited(self, move: MoveData) -> Decision:
        """Return a decision for the move that the rules derive from the answers."""
        return self._decision(move, 1, None, BY_RULES, 0)

    def add_record(self, record: CallRecord) -> None:
        self._records.append(record)
        if self._calls is not None:
            self._calls.append(record)

    async def store_calls(self) -> None:
        """Store the calls made so far, if there are hooks for it."""
        unstored, self._stored = self._records[self._stored :], len(self._records)
        if unstored and self._hooks is not None:
            await self._hooks.store(unstored)

    def wording(self, agent: AgentSpec) -> dict[str, Any]:
        """Return the agent's wording."""
        return wording(agent, template=self._template, prompts=self._prompts)

    @property
    def records(self) -> tuple[CallRecord, ...]:
        """The calls made so far."""
        return tuple(self._records)

    def prompt_sha256(self, agent: AgentSpec) -> str:
        """Return the hash of all texts that the agent is sent."""
        return strategies.prompts_sha256(self.play.game, **self.wording(agent))

    def _decision(self, move: MoveData, tries: int, raw: str | None, author: str | None, position: int) -> Decision:
        rule_breaks = sum(record.problem is not None for record in self._records)
        return Decision(move, self.records, tries, raw, author, position, rule_breaks, tuple(self._notes))


class _Draft:
    """Shows an unfinished answer, and retracts what it has shown."""

    def __init__(self, on_text: Callable[[str], None] | None, on_retract: Callable[[], None] | None):
        self._on_text, self._on_retract = on_text, on_retract
        self._shown = False

    @property
    def enabled(self) -> bool:
        return self._on_text is not None

    @property
    def discards(self) -> Callable[[str], None] | None:
        """A sink for streamed text that is never shown, as in conversations with tools."""
        return (lambda _piece: None) if self.enabled else None

    def add(self, piece: str) -> None:
        self._shown = True
        if self._on_text is not None:
            self._on_text(piece)

    def retract(self) -> None:
        if self._shown and self._on_retract is not None:
            self._on_retract()
        self._shown = False


class CallRecorder:
    """Records the attempts of one try: failed ones at once, the answer once it has been read."""

    def __init__(
        self,
        process: DecisionProcess,
        agent: AgentSpec,
        messages: Sequence[ChatMessage],
        position: int,
        try_number: int,
        *,
        purpose: str = "move",
        conversation: str | None = None,
        offered: Sequence[str] = (),
    ):
        self._process = process
        seed = agent.parameters.get("seed")
        self._common: dict[str, Any] = {
            "provider": endpoint(agent.kind).protocol,
            "endpoint": agent.kind,
            "model": agent.name,
            "messages": [{"role": message["role"], "content": message["content"]} for message in messages],
            "parameters": dict(agent.parameters),
            "try_number": try_number,
            "strategy": agent.strategy,
            "seed": seed if isinstance(seed, int) else None,
            "prompt_sha256": process.prompt_sha256(agent),
            "rung": position,
            "streamed": process.draft.enabled,
            "short": agent.short,
            "purpose": purpose,
            "conversation": conversation,
            "offered": list(offered),
            "answering": process.play.opened.get(process.role),
        }
        self._completed: Attempt | None = None

    def __call__(self, attempt: Attempt) -> None:
        if attempt.error is None:
            self._completed = attempt
            return
        error = f"{type(attempt.error).__name__}: {attempt.error}"
        self._process.add_record(
            CallRecord(**self._common, latency=attempt.seconds, attempt=attempt.number, error=error)
        )
        self._process.draft.retract()

    def answer(self, problem: str | None = None, fault: str | None = None, **further_fields: Any) -> None:
        """Record the answer, with its problem and the kind of fault; `further_fields` are those of `CallRecord`."""
        attempt = self._completed
        assert attempt is not None and attempt.completion is not None
        completion = attempt.completion
        fields = {
            **self._common,
            "latency": attempt.seconds,
            "attempt": attempt.number,
            "answer": completion.text,
            "answered_by": completion.model,
            "input_tokens": completion.input_tokens,
            "output_tokens": completion.output_tokens,
            "cached_tokens": completion.cached_tokens,
            "request_id": completion.request_id,
            "stop": completion.stop,
            "structured": completion.structured,
            "first_text": completion.first_text,
            "refused": completion.refused,
            "problem": problem,
            "fault": fault,
            **further_fields,
        }
        self._process.add_record(CallRecord(**fields))


def _scripted(spec: AgentSpec, play: Play, role: Role) -> MoveData:
    try:
        move = script_move(play, role, spec.name)
        check(play, role, move)
    except (Refused, UnknownGame) as refusal:
        raise NoLegalMove(str(refusal)) from None
    return move


def legal_move(text: str, asking: Asking) -> tuple[MoveData, dict[str, Any]]:
    """Return the legal move in an answer to a question, and its remarks.

    Raises:
        BadAnswer, Refused
    """
    play, role = asking.play, asking.role
    forms = asking.forms(play.forms(role))
    move_data, remarks = parsing.read_answer(text, forms, short=asking.short, remarks=asking.remarks(play))
    _form, move = check(play, role, move_data)
    return plain_move(move), remarks
