"""One decision of an agent: ask, read, check against the rules; say what was wrong and ask again."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from games.errors import Refused, UnknownGame
from games.interface import Event, Game, MoveData, Role
from games.play import Play, check, plain_move, script_move
from games.words import gettext as _
from llm_agents import strategies
from llm_agents.errors import BadAgent, BadAnswer, NoLegalMove, ProviderError
from llm_agents.parsing import read_move
from llm_agents.prompting import correction
from llm_agents.providers import NAMES, provider_called
from llm_agents.providers.base import ChatMessage, Completion, Provider, Request
from llm_agents.record import CallRecord

KINDS = ("script", *NAMES)


@dataclass(frozen=True)
class AgentSpec:
    """Who plays a seat.

    Attributes:
        kind: "script", or a provider's name.
        name: the scripted player or the model.
        strategy: how a model is asked; None leaves it to the game.
        parameters: sampling parameters of a model's calls.
    """

    kind: str
    name: str
    strategy: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def scripted(self) -> bool:
        return self.kind == "script"

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"


def parse_spec(words: str, game: type[Game[Any, Any]] | Game[Any, Any] | None = None) -> AgentSpec:
    """The agent called `words`, such as "script:fair", "openai:MODEL" or "anthropic:MODEL".

    Args:
        game: where it is to play; a scripted player must be one of this game's.

    Raises:
        BadAgent: no such kind, no name, or no such scripted player; says which there are.
    """
    kind, colon, name = words.partition(":")
    if kind not in KINDS or not colon or not name.strip():
        known = ", ".join(f"{kind}:{'NAME' if kind == 'script' else 'MODEL'}" for kind in KINDS)
        raise BadAgent(_("“{words}” is no agent; an agent is one of {known}.").format(words=words, known=known))
    if game is not None and kind == "script" and name not in game.scripts:
        raise BadAgent(
            _("{game} has no scripted player “{name}”; there are {names}.").format(
                game=game.key, name=name, names=", ".join(sorted(game.scripts))
            )
        )
    return AgentSpec(kind, name)


@dataclass(frozen=True)
class Decision:
    """A legal move, and what it took: `tries` counts from 1; `raw` is a model's accepted answer."""

    move: MoveData
    calls: tuple[CallRecord, ...] = ()
    tries: int = 1
    raw: str | None = None


async def decide(
    spec: AgentSpec,
    play: Play,
    role: Role,
    events: Sequence[Event],
    *,
    calls: list[CallRecord] | None = None,
    template: str | None = None,
    answers: Mapping[int, str] | None = None,
    provider: Provider | None = None,
    tries_after_first: int = 3,
    timeout: float = 60.0,
) -> Decision:
    """What the agent does now, by the rules of the game.

    Args:
        events: the match's log so far.
        calls: filled with a record of each call as it is made, also when the decision fails.
        template: the study's own instruction text.
        answers: the agent's earlier raw answers, by number of the move event they led to.
        provider: whom to ask; None: the one that the agent names.
        tries_after_first: how often it is asked again after an answer that is no legal move.
        timeout: seconds for one call.

    Raises:
        NoLegalMove: the last try was no legal move either.
        ProviderError: the provider gave no answer.
    """
    if spec.scripted:
        return Decision(_scripted(spec, play, role))
    kept: list[CallRecord] = []

    def keep(call: CallRecord) -> None:
        kept.append(call)
        if calls is not None:
            calls.append(call)

    asked = provider or provider_called(spec.kind)
    sent = strategies.messages(play, role, events, strategy=spec.strategy, template=template, answers=answers)
    problem = ""
    for try_number in range(1, tries_after_first + 2):
        call = _Call(spec, tuple(sent), try_number)
        try:
            completion = await asked.complete(Request(spec.name, sent, spec.parameters, timeout))
        except ProviderError as error:
            keep(call.failed(error))
            raise
        try:
            move = _legal(completion.text, play, role)
        except (BadAnswer, Refused) as wrong:
            problem = str(wrong)
            keep(call.answered(completion, problem))
        else:
            keep(call.answered(completion))
            return Decision(move, tuple(kept), try_number, completion.text)
        sent = [
            *sent,
            {"role": "assistant", "content": completion.text.strip() or "(no answer)"},
            {"role": "user", "content": correction(problem)},
        ]
    raise NoLegalMove(_("No legal move in {tries} tries. {problem}").format(tries=try_number, problem=problem), kept)


def _scripted(spec: AgentSpec, play: Play, role: Role) -> MoveData:
    try:
        move = script_move(play, role, spec.name)
        check(play, role, move)
    except (Refused, UnknownGame) as wrong:
        raise NoLegalMove(str(wrong)) from None
    return move


def _legal(text: str, play: Play, role: Role) -> MoveData:
    _form, move = check(play, role, read_move(text, play.forms(role)))
    return plain_move(move)


class _Call:
    """A call under way, to become a record."""

    def __init__(self, spec: AgentSpec, sent: Sequence[ChatMessage], try_number: int):
        self._common: dict[str, Any] = {
            "provider": spec.kind,
            "model": spec.name,
            "messages": [dict(message) for message in sent],
            "parameters": dict(spec.parameters),
            "try_number": try_number,
        }
        self._began = time.monotonic()

    def answered(self, completion: Completion, problem: str | None = None) -> CallRecord:
        return CallRecord(
            **self._common,
            latency=time.monotonic() - self._began,
            answer=completion.text,
            answered_by=completion.model,
            input_tokens=completion.input_tokens,
            output_tokens=completion.output_tokens,
            request_id=completion.request_id,
            stop=completion.stop,
            problem=problem,
        )

    def failed(self, error: ProviderError) -> CallRecord:
        return CallRecord(
            **self._common, latency=time.monotonic() - self._began, error=f"{type(error).__name__}: {error}"
        )
