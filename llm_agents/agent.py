"""One decision of an agent: ask, read, check against the rules; say what was wrong and ask again; then ask another."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from games.errors import Refused, UnknownGame
from games.interface import Event, Game, MoveData, Role
from games.play import Play, check, plain_move, script_move
from games.words import gettext as _
from llm_agents import parsing, strategies
from llm_agents.calling import Attempt, Policy, call
from llm_agents.endpoints import PRESETS, endpoint, known
from llm_agents.errors import AgentError, BadAgent, BadAnswer, NoLegalMove, ProviderError
from llm_agents.providers.base import ChatMessage, Provider, Request
from llm_agents.record import CallRecord

SCRIPT = "script"


@dataclass(frozen=True)
class AgentSpec:
    """Who plays a seat.

    Attributes:
        kind: "script", or an endpoint's name.
        name: the scripted player or the model.
        strategy: how a model is asked; None leaves it to the game.
        parameters: sampling parameters of a model's calls (temperature, max_tokens, seed…).
        persona: whom a model is told to be.
        structured: hold a model's answers to the schema of its move, where the endpoint can.
        short: ask a model only for the fewest values that determine its move, where the game has such a form.
    """

    kind: str
    name: str
    strategy: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    persona: str | None = None
    structured: bool = False
    short: bool = False

    @property
    def scripted(self) -> bool:
        return self.kind == SCRIPT

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def parse_spec(words: str, game: type[Game[Any, Any]] | Game[Any, Any] | None = None) -> AgentSpec:
    """The agent called `words`, such as "script:fair", "openai:MODEL" or "ENDPOINT:MODEL".

    Args:
        game: where it is to play; a scripted player must be one of this game's.

    Raises:
        BadAgent: no such endpoint, no name, or no such scripted player; says which there are.
    """
    kind, colon, name = words.partition(":")
    if not colon or not name.strip() or (kind != SCRIPT and not known(kind)):
        forms = ", ".join([f"{SCRIPT}:NAME", *(f"{preset}:MODEL" for preset in PRESETS)])
        raise BadAgent(_("“{words}” is no agent; an agent is one of {known}.").format(words=words, known=forms))
    if game is not None and kind == SCRIPT and name not in game.scripts:
        raise BadAgent(
            _("{game} has no scripted player “{name}”; there are {names}.").format(
                game=game.key, name=name, names=", ".join(sorted(game.scripts))
            )
        )
    return AgentSpec(kind, name)


@dataclass(frozen=True)
class Ladder:
    """Who is asked when an agent fails, and for how long.

    Attributes:
        rungs: the agents in order; the seat's own comes first, listed or not.
        tries_after_first: how often each is asked again after an answer that is no legal move.
        call_seconds: for one call.
        retries: calls after the first that failed, for each try.
        total_seconds: for the whole decision; None: as long as it takes.
        script: the scripted player that moves when all have failed; None: nobody does.
    """

    rungs: tuple[AgentSpec, ...] = ()
    tries_after_first: int = 3
    call_seconds: float = 60.0
    retries: int = 2
    total_seconds: float | None = None
    script: str | None = None


@dataclass(frozen=True)
class Decision:
    """A legal move, and what it took.

    Attributes:
        calls: every call that was made for it, those of agents that failed included.
        tries: answers that the agent who made the move was asked for.
        raw: a model's accepted answer.
        by: who made the move, if not the seat's own agent ("anthropic:MODEL", "script:fair").
        rung: that agent's place in the ladder, from 0; the scripted player's comes after all agents.
        rule_breaks: answers that were no legal move, of all agents.
    """

    move: MoveData
    calls: tuple[CallRecord, ...] = ()
    tries: int = 1
    raw: str | None = None
    by: str | None = None
    rung: int = 0
    rule_breaks: int = 0


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
) -> Decision:
    """What the agent does now, by the rules of the game, or another in its place.

    An agent fails when its endpoint gives no answer in spite of retries, when the endpoint's circuit
    is open, or when none of its answers is a legal move; then the next on the ladder is asked.

    Args:
        events: the match's log so far.
        calls: filled with a record of each call as it is made, also when the decision fails.
        template: the study's own instruction text.
        prompts: the study's own prompt texts.
        answers: the agent's earlier raw answers, by number of the move event they led to.
        provider: who makes all calls; None: each agent's endpoint.
        tries_after_first, timeout: those of a ladder without further rungs, where no `ladder` is given.
        on_text: given: answers are streamed, and this is called with each new piece of one.
        on_retract: called when the pieces since the last call of it belong to an answer that does not count.

    Raises:
        NoLegalMove: the last agent's last try was no legal move either, and there is no script.
        ProviderError: the last agent's endpoint gave no answer, and there is no script.
    """
    ladder = ladder or Ladder(tries_after_first=tries_after_first, call_seconds=timeout)
    deadline = None if ladder.total_seconds is None else time.monotonic() + ladder.total_seconds
    policy = Policy(ladder.call_seconds, ladder.retries, deadline=deadline)
    asking = _Asking(play, role, events, calls, template, prompts, answers, provider, on_text, on_retract)
    rungs = ladder.rungs if ladder.rungs[:1] == (spec,) else (spec, *ladder.rungs)
    failure: AgentError | None = None
    for rung, agent in enumerate(rungs):
        if rung and policy.remaining() <= 0:
            break
        try:
            return await asking.ask(agent, rung, ladder.tries_after_first, policy)
        except (NoLegalMove, ProviderError, BadAgent) as failed:
            failure = failed
    if ladder.script is not None:
        return await asking.ask(AgentSpec(SCRIPT, ladder.script), len(rungs), 0, policy)
    assert failure is not None
    raise failure


def wording(
    agent: AgentSpec, *, template: str | None = None, prompts: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """In which words the agent is asked, as the arguments of `strategies.messages` and its neighbours."""
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
    """What the agent, a model, is asked at its first try; arguments as for `decide`.

    Raises:
        BadText: a text cannot be filled in.
    """
    worded = wording(agent, template=template, prompts=prompts)
    sent = strategies.messages(play, role, events, answers=answers, **worded)
    schema = None
    if agent.structured:
        schema = parsing.answer_schema(play.forms(role), strategy=agent.strategy, short=agent.short)
    return Request(agent.name, sent, agent.parameters, schema=schema, on_text=on_text)


def _no_legal_move(tries: int) -> str:
    if tries == 1:
        return _("No legal move in its only try.")
    return _("No legal move in {tries} tries.").format(tries=tries)


class _Asking:
    """One question, put to one agent after the other."""

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
    ):
        self._play, self._role, self._events = play, role, events
        self._template, self._prompts, self._answers = template, prompts, answers
        self._provider = provider
        self._draft = _Draft(on_text, on_retract)
        self._calls = calls
        self._kept: list[CallRecord] = []

    async def ask(self, agent: AgentSpec, rung: int, tries_after_first: int, policy: Policy) -> Decision:
        """The agent's move.

        Raises:
            NoLegalMove, ProviderError, BadAgent: it has none.
        """
        by = str(agent) if rung else None
        if agent.scripted:
            move = _scripted(agent, self._play, self._role)
            return Decision(move, tuple(self._kept), by=by, rung=rung, rule_breaks=self._rule_breaks())
        worded = wording(agent, template=self._template, prompts=self._prompts)
        request = first_request(
            agent,
            self._play,
            self._role,
            self._events,
            template=self._template,
            prompts=self._prompts,
            answers=self._answers,
            on_text=self._draft.add if self._draft.wanted else None,
        )
        for number in range(1, tries_after_first + 2):
            keep = _Keep(self, agent, request.messages, rung, number)
            completion = await call(agent.kind, request, policy=policy, keep=keep, provider=self._provider)
            try:
                move = _legal(completion.text, self._play, self._role, agent)
            except (BadAnswer, Refused) as wrong:
                problem = str(wrong)
                fault = "unreadable" if isinstance(wrong, BadAnswer) else "illegal"
            else:
                keep.answer()
                kept = tuple(self._kept)
                return Decision(move, kept, number, completion.text, by, rung, self._rule_breaks())
            keep.answer(problem, fault)
            self._draft.retract()
            said = completion.text.strip() or "(no answer)"
            corrected = strategies.correction(self._play, self._role, problem, **worded)
            request = replace(
                request,
                messages=[
                    *request.messages,
                    ChatMessage(role="assistant", content=said),
                    ChatMessage(role="user", content=corrected),
                ],
            )
        raise NoLegalMove(f"{_no_legal_move(number)} {problem}", self._kept)

    def keep(self, record: CallRecord) -> None:
        self._kept.append(record)
        if self._calls is not None:
            self._calls.append(record)

    def retract(self) -> None:
        self._draft.retract()

    @property
    def streamed(self) -> bool:
        return self._draft.wanted

    def prompt_sha256(self, agent: AgentSpec) -> str:
        """The version of all texts that the agent is sent."""
        worded = wording(agent, template=self._template, prompts=self._prompts)
        return strategies.prompts_sha256(self._play.game, **worded)

    def _rule_breaks(self) -> int:
        return sum(record.problem is not None for record in self._kept)


class _Draft:
    """What has been shown of an answer that is still being written."""

    def __init__(self, on_text: Callable[[str], None] | None, on_retract: Callable[[], None] | None):
        self._on_text, self._on_retract = on_text, on_retract
        self._shown = False

    @property
    def wanted(self) -> bool:
        return self._on_text is not None

    def add(self, piece: str) -> None:
        self._shown = True
        if self._on_text is not None:
            self._on_text(piece)

    def retract(self) -> None:
        if self._shown and self._on_retract is not None:
            self._on_retract()
        self._shown = False


class _Keep:
    """Makes records of the attempts of one try: of failed ones at once, of the answer when it has been read."""

    def __init__(self, asking: _Asking, agent: AgentSpec, sent: Sequence[ChatMessage], rung: int, try_number: int):
        self._asking = asking
        seed = agent.parameters.get("seed")
        self._common: dict[str, Any] = {
            "provider": endpoint(agent.kind).protocol,
            "endpoint": agent.kind,
            "model": agent.name,
            "messages": [dict(message) for message in sent],
            "parameters": dict(agent.parameters),
            "try_number": try_number,
            "strategy": agent.strategy,
            "seed": seed if isinstance(seed, int) else None,
            "prompt_sha256": asking.prompt_sha256(agent),
            "rung": rung,
            "streamed": asking.streamed,
            "short": agent.short,
        }
        self._answered: Attempt | None = None

    def __call__(self, attempt: Attempt) -> None:
        if attempt.error is None:
            self._answered = attempt
            return
        error = f"{type(attempt.error).__name__}: {attempt.error}"
        self._asking.keep(CallRecord(**self._common, latency=attempt.seconds, attempt=attempt.number, error=error))
        self._asking.retract()

    def answer(self, problem: str | None = None, fault: str | None = None) -> None:
        """Keep the answer, with what was wrong with it and the kind of that."""
        attempt = self._answered
        assert attempt is not None and attempt.completion is not None
        completion = attempt.completion
        self._asking.keep(
            CallRecord(
                **self._common,
                latency=attempt.seconds,
                attempt=attempt.number,
                answer=completion.text,
                answered_by=completion.model,
                input_tokens=completion.input_tokens,
                output_tokens=completion.output_tokens,
                request_id=completion.request_id,
                stop=completion.stop,
                structured=completion.structured,
                first_text=completion.first_text,
                refused=completion.refused,
                problem=problem,
                fault=fault,
            )
        )


def _scripted(spec: AgentSpec, play: Play, role: Role) -> MoveData:
    try:
        move = script_move(play, role, spec.name)
        check(play, role, move)
    except (Refused, UnknownGame) as wrong:
        raise NoLegalMove(str(wrong)) from None
    return move


def _legal(text: str, play: Play, role: Role, agent: AgentSpec) -> MoveData:
    short: dict[str, Any] = {"short": True} if agent.short else {}
    _form, move = check(play, role, parsing.read_move(text, play.forms(role), **short))
    return plain_move(move)
