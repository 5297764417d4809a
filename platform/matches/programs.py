"""A researcher's own program at a seat: what it is shown, what it may send, and how that becomes its decision."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from typing import Any

from games.errors import Refused
from games.interface import Json, MoveData, Role, Said, Tool
from games.play import Play, use_tool
from games.words import gettext as _
from games.words import quoted
from llm_agents import looping, strategies
from llm_agents.agent import PROGRAM
from llm_agents.deciding import legal_move
from llm_agents.errors import NoLegalMove, TimedOut
from llm_agents.prompting import json_schema, render
from llm_agents.providers.base import ToolCall
from llm_agents.record import CallRecord
from llm_agents.settings import Settings, bare
from llm_agents.strategies.asking import Asking
from llm_agents.turn import AgentTurn, Asked
from programs.models import ProgramTurn
from programs.turns import Attempt, Database, answered, open_turn


def asking_of(play: Play, role: Role, settings: Settings, template: str | None) -> Asking:
    """Return the question to a program: worded as the game words it, without prompts meant for models."""
    return strategies.asking(play, role, bare(information=settings.information), template=template)


def shown(asking: Asking) -> dict[str, Json]:
    """Return what a program at the seat is shown, as plain data: what a model or a person there would be told."""
    play, role = asking.play, asking.role
    view = play.view(role)
    return {
        "game": play.game.key,
        "role": role,
        "instructions": play.game.instructions(role, asking.template).strip(),
        "text": render(view),
        "view": [{"block": type(block).__name__.lower(), **_plain(block)} for block in view],
        "tools": [
            {"name": offer.name, "help": offer.help, "arguments": dict(offer.parameters)}
            for offer in looping.offers(asking)
            if isinstance(offer.source, Tool)
        ],
        "forms": [
            {
                "name": form.name,
                "title": form.title,
                "help": form.help,
                "ends_turn": form.ends_turn,
                "schema": dict(json_schema(form.model)),
            }
            for form in asking.forms(play.forms(role))
        ],
    }


def looked_up(asking: Asking, name: str, arguments: str) -> Json:
    """Return what a lookup finds; other players' words are `games.interface.Said`.

    Args:
        arguments: as JSON text.

    Raises:
        BadAnswer, Refused: there is no such tool now, or the arguments are invalid; the message tells the program.
    """
    tools = {offer.name: offer for offer in looping.offers(asking) if isinstance(offer.source, Tool)}
    if name not in tools:
        names = ", ".join(tools) or "none"
        raise Refused(f"There is no tool {quoted(name)} now; there are {names}.")
    found = looping.arguments_of(ToolCall("", name, arguments), tools[name])
    return use_tool(asking.play, asking.role, name, found)


def as_data(value: Json) -> Json:
    """Return a lookup's result as plain data, with other players' words as {speaker, words}."""
    return json.loads(json.dumps(value, default=_plain))


def _plain(value: Any) -> Json:
    if isinstance(value, Said):
        return {"speaker": value.speaker, "words": value.words}
    if is_dataclass(value):
        # What only pages need is hidden from the representation.
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value) if each.repr}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


async def ask(turn: AgentTurn, asked: Asked, match_uid: uuid.UUID, database: Database) -> tuple[MoveData, int, str]:
    """Ask a program and wait for it without a thread; return its move, the number of its tries, and its text.

    Raises:
        NoLegalMove: what it sent in time was not a legal move.
        ProviderError: it sent nothing in time, or there is no such program.
    """
    agent, settings = asked.agent, asked.agent.settings
    asking = asking_of(turn.play, turn.role, settings, turn.template)
    seconds = asked.policy.remaining()
    if agent.fallbacks:
        seconds = max(seconds - settings.call_seconds, seconds / 2)
    question = {"match_uid": match_uid, "role": turn.role, "answering": turn.play.opened[turn.role]}
    tries = settings.tries_after_first + 1
    opened = await database.retry(open_turn, agent.name, **question, rung=asked.rung, seconds=seconds, tries=tries)
    closed = await answered(opened, database, turn.still_wanted)
    turn.calls.extend(_records(closed, asking, asked))
    moves = [attempt for attempt in closed.attempts if not attempt["tool"]]
    if moves and moves[-1]["problem"] is None:
        text = moves[-1]["text"]
        return legal_move(text, asking)[0], len(moves), text
    if moves:
        raise NoLegalMove(
            _("No legal move in {tries} tries.").format(tries=len(moves)) + f" {moves[-1]['problem']}", turn.calls
        )
    raise TimedOut(_no_answer(closed))


def _no_answer(turn: ProgramTurn) -> str:
    seconds = (turn.deadline - turn.opened_at) / timedelta(seconds=1)
    return _("The program sent no move within {seconds} seconds.").format(seconds=f"{seconds:.0f}")


def _records(turn: ProgramTurn, asking: Asking, asked: Asked) -> Iterator[CallRecord]:
    """Yield a record of each thing that the program sent, and of its silence, as of a model's calls."""
    view = shown(asking)
    messages = [
        {"role": "system", "content": view["instructions"]},
        {"role": "user", "content": view["text"]},
    ]
    base: dict[str, Any] = {
        "provider": PROGRAM,
        "endpoint": PROGRAM,
        "model": asked.agent.name,
        "parameters": {},
        "input_tokens": 0,
        "output_tokens": 0,
        "rung": asked.rung,
        "answering": turn.answering,
        "prompt_sha256": strategies.prompts_sha256(asking.play.game, asking.settings, asking.template),
    }
    at, tries = turn.opened_at, 1
    for attempt in turn.attempts:
        sent_at = datetime.fromisoformat(attempt["at"])
        seconds, at = max(0.0, (sent_at - at) / timedelta(seconds=1)), sent_at
        recorded = {
            **base,
            "try_number": tries,
            "latency": seconds,
            "answered_by": attempt["version"] or None,
            "problem": attempt["problem"],
            "fault": attempt["fault"],
        }
        if attempt["tool"]:
            tool = _tool_record(asking, attempt)
            offered = [each["name"] for each in view["tools"]]
            yield CallRecord(messages=[], answer="", purpose="look", tools=[tool], offered=offered, **recorded)
            continue
        yield CallRecord(messages=list(messages), answer=attempt["text"], **recorded)
        messages += [
            {"role": "assistant", "content": attempt["text"]},
            {"role": "user", "content": attempt["problem"] or ""},
        ]
        tries += 1
    if not turn.attempts:
        error = f"TimedOut: {_no_answer(turn)}"
        latency = (turn.deadline - turn.opened_at) / timedelta(seconds=1)
        yield CallRecord(messages=messages, try_number=1, latency=latency, error=error, **base)


def _tool_record(asking: Asking, attempt: Attempt) -> dict[str, Any]:
    """Return the record of a lookup; its result is computed again, so that it needs no place of its own."""
    name, arguments = attempt["tool"], attempt["text"]
    result = attempt["problem"] or looping.as_text(looked_up(asking, name, arguments))
    return {
        "name": name,
        "arguments": arguments,
        "result": result,
        "size": len(result),
        "fault": attempt["fault"],
        "kind": "look",
    }
