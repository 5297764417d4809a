"""What models are told: the requests of a match's first turns, made by the code that sends them; nobody is called."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from games.errors import GameError
from games.interface import Event, Form, Game, Json, MoveData, Role, Tool
from games.play import script_move, start, submit, use_tool
from games.scripts import random_filling
from games.strategies import MOVE, Purpose, Question
from llm_agents import deciding, looping, strategies
from llm_agents.agent import AgentSpec
from llm_agents.calling import Attempt, Policy
from llm_agents.errors import AgentError, BadAnswer
from llm_agents.parsing import read_answer
from llm_agents.providers.base import ChatMessage, Completion, Request, ToolCall
from llm_agents.record import CallRecord
from llm_agents.strategies.asking import Asking
from llm_agents.turn import AgentTurn, Answer, Asked


@dataclass(frozen=True)
class ToldTurn:
    """One call of a model as it would be sent, and what it would be told next.

    Attributes:
        results: the result of each tool that only reads, called as in its example, by name.
        correction: the answer to an unreadable answer.
    """

    purpose: str
    request: Request
    results: Mapping[str, str]
    correction: str

    def words(self) -> str:
        """Return everything that is told, as text."""
        request = self.request
        parts = [f"[{message['role']}]\n{message['content']}" for message in request.messages]
        parts += [f"[tool {tool.name}]\n{tool.help}" for tool in request.tools]
        parts += [f"[result of {name}]\n{text}" for name, text in self.results.items()]
        return "\n\n".join([*parts, f"[after an unreadable answer]\n{self.correction}"])

    def as_dict(self) -> dict[str, Json]:
        request = self.request
        return {
            "purpose": self.purpose,
            "messages": [{"role": message["role"], "content": message["content"]} for message in request.messages],
            "tools": [
                {"name": tool.name, "description": tool.help, "parameters": dict(tool.parameters)}
                for tool in request.tools
            ],
            "results": dict(self.results),
            "schema": request.schema,
            "correction": self.correction,
        }


def told(
    game: Game[Any, Any], agents: Mapping[Role, AgentSpec], *, seed: int, turns: int, template: str | None = None
) -> dict[Role, list[ToldTurn]]:
    """Return what each model is told in its first turns, while the game's own script plays all seats.

    Args:
        agents: one for each role of the game; nothing is told to scripts.
        turns: calls of each model. With tools, only the first call of a turn counts.
        template: the study's own instruction text.

    Raises:
        BadAgent, BadText: an agent cannot be asked in this way.
    """
    play, opening = start(game, seed)
    events: list[Event] = list(opening)
    heard: dict[Role, list[ToldTurn]] = {role: [] for role, agent in agents.items() if not agent.scripted}
    calls: dict[Role, list[CallRecord]] = {role: [] for role in heard}
    while not play.over and any(len(turns_heard) < turns for turns_heard in heard.values()):
        role = play.waiting_for()[0]
        move = script_move(play, role, game.default_script)
        if role in heard and len(heard[role]) < turns:
            turn = _Turn(play, role, events=events, template=template, earlier=calls[role])
            asked = _Told(turn, agents[role], 0, Policy(), move)
            try:
                asyncio.run(deciding.ask(asked, 0))
            except (AgentError, GameError) as error:
                if not asked.told:
                    raise error
            heard[role] += asked.told
            calls[role] += turn.calls
            for note in turn.notes:
                play, logged = submit(play, role, note)
                events += logged
        play, logged = submit(play, role, move)
        events += logged
    return {role: turns_heard[:turns] for role, turns_heard in heard.items()}


@dataclass
class _Turn(AgentTurn):
    """A turn whose earlier calls are kept in memory."""

    earlier: Sequence[CallRecord] = ()

    async def latest(self, purposes: Sequence[Purpose]) -> CallRecord | None:
        return next((call for call in reversed(self.earlier) if call.purpose in purposes and call.accepted), None)


@dataclass(frozen=True)
class _Told(Asked):
    """A model that is not called: it answers what the script moves, and fills in other forms at random."""

    move: MoveData
    told: list[ToldTurn] = field(default_factory=list)

    async def call(
        self,
        request: Request,
        try_number: int,
        *,
        purpose: str = "move",
        messages: Sequence[ChatMessage] | None = None,
        **recorded: Any,
    ) -> Answer:
        asking = self.asking(self._question(purpose))
        if request.tools or recorded.get("offered"):
            completion = self._submission(asking, in_text=not request.tools)
            results, correction = _results(asking), looping.NO_CALL.format(names=", ".join(recorded["offered"]))
        else:
            completion = _completion(json.dumps(self._filled_in(asking), ensure_ascii=False))
            results, correction = {}, _correction(asking)
        self.told.append(ToldTurn(purpose, request, results, correction))
        recorded |= {"try_number": try_number, "purpose": purpose}
        kept = request.messages if messages is None else messages
        return Answer(self.turn, self.agent, kept, Attempt(1, 0.0, completion), completion, recorded)

    def _question(self, purpose: str) -> Question:
        strategy = strategies.strategy_named(self.agent.settings.strategy, self.turn.play.game)
        return next((question for question in strategy.modules if question.purpose == purpose), strategy.move or MOVE)

    def _filled_in(self, asking: Asking) -> MoveData:
        if asking.question.purpose == "move":
            return self.move
        form = asking.forms(asking.play.forms(asking.role))[0]
        return random_filling(form, Random(f"{asking.play.seed}/{asking.role}/{asking.play.last}"))

    def _submission(self, asking: Asking, *, in_text: bool) -> Completion:
        (offer, *_others) = (offer for offer in looping.offers(asking) if offer.submits)
        assert isinstance(offer.source, Form)
        keys = {name: key for key, name in offer.source.tool_keys.items()}
        arguments = {keys.get(name, name): value for name, value in self.move.items()}
        if in_text:
            return _completion(json.dumps({"tool": offer.name, "arguments": arguments}, ensure_ascii=False))
        return _completion("", ToolCall("call_1", offer.name, json.dumps(arguments, ensure_ascii=False)))


def _completion(text: str, *calls: ToolCall) -> Completion:
    return Completion(text, None, None, None, None, None, calls=calls)


def _results(asking: Asking) -> dict[str, str]:
    """Return the result of each lookup."""
    play, role = asking.play, asking.role
    lookups = [offer.source for offer in looping.offers(asking) if isinstance(offer.source, Tool)]
    return {tool.name: looping.as_text(use_tool(play, role, tool.name, dict(tool.example))) for tool in lookups}


def _correction(asking: Asking) -> str:
    """Return what follows an answer without a move."""
    try:
        read_answer("", asking.forms(asking.play.forms(asking.role)))
    except BadAnswer as error:
        return asking.correction(str(error))
    return ""
