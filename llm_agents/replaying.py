"""Reread recorded answers: do they give the same moves, break the same rules, and get the same data from tools?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from games import strategies
from games.errors import Refused
from games.interface import Event, Game, MoveData, Role, Tool
from games.play import Play, plain_move, start, submit_logged, use_tool
from llm_agents import looping
from llm_agents.deciding import legal_move
from llm_agents.errors import BadAgent, BadAnswer
from llm_agents.providers.base import ToolCall
from llm_agents.settings import bare
from llm_agents.strategies import asking
from llm_agents.strategies.asking import Asking
from llm_agents.talking import CHAT

UNPLAYED = "unplayed"
"""Outcome of a call whose answer was legal but was not the move, since another call of the same turn came first."""
JUDGE = "judge"
"""Purpose of a call that was about a turn but not part of it."""
Records = Mapping[tuple[Role, int], Sequence[Mapping[str, Any]]]
"""The records of the calls of each turn, by role and number of the event that opened it, in order."""


def differences(game: Game[Any, Any], events: Iterable[Event], records: Records) -> list[str]:
    """Replay a log with the recorded answers and return every difference, as text.

    Refused answers must be refused again; the accepted answer must be the move in the log; tools must give
    the same results. Moves made otherwise (by a script or the clock) have no accepted answer.

    Args:
        events: the whole log.
        records: `CallRecord`s as plain data, each with its `outcome`, if known.
    """
    log = list(events)
    play, _events = start(game, log[0].data["seed"])
    problems = []
    pending: defaultdict[Role, list[_RecordedToolCall]] = defaultdict(list)
    for event in log:
        if event.kind != "move":
            continue
        role, move = event.data["role"], event.data["move"]
        turn_records = records.get((role, play.opened[role]), ())
        move_records = [record for record in turn_records if _is_the_move(record)]
        if len(move_records) > 1:
            problems.append(f"event {event.number}, {role}: {len(move_records)} calls claim to be the move.")
        for record in turn_records:
            if record.get("outcome") == UNPLAYED or record.get("purpose") in (JUDGE, CHAT):
                continue
            location = f"event {event.number}, {role}, try {record['try_number']}"
            if record.get("tools"):
                pending[role] += [_RecordedToolCall(location, role, record, tool) for tool in record["tools"]]
            elif record.get("answer") is not None and not record.get("conversation"):
                problems += [f"{location}: {problem}" for problem in _differences(play, role, record, move)]
        problems += _replay_tool_calls(pending[role], play, move)
        play, _events = submit_logged(play, event.data)
    return problems


def _is_the_move(record: Mapping[str, Any]) -> bool:
    """Return whether the call's answer is the move of its turn."""
    answered = record.get("answer") is not None and record.get("problem") is None and not record.get("tools")
    return answered and record.get("purpose", "move") == "move" and record.get("outcome") != UNPLAYED


def _asking(play: Play, role: Role, record: Mapping[str, Any]) -> Asking:
    """Return the question that a recorded call answered."""
    settings = bare(strategy=record.get("strategy") or strategies.PLAIN, short=record.get("short", False))
    strategy = strategies.of(play.game).get(settings.strategy)
    if strategy is None:
        raise BadAgent(f"{play.game.key} no longer has a strategy “{settings.strategy}”.")
    purpose = record.get("purpose", "move")
    question = next((module for module in strategy.modules if module.purpose == purpose), None)
    return asking(play, role, settings, question=question)


def _differences(play: Play, role: Role, record: Mapping[str, Any], move: MoveData) -> Iterator[str]:
    try:
        replayed, _remarks = legal_move(record["answer"], _asking(play, role, record))
    except (BadAnswer, Refused) as refusal:
        if not record.get("problem"):
            yield f"the answer was accepted, but is now refused: {refusal}"
        return
    if record.get("problem"):
        yield f"the answer was refused, but is now accepted: {record['problem']}"
    elif replayed != dict(move):
        yield f"the log has {dict(move)}, the answer says {replayed}"


@dataclass(frozen=True)
class _RecordedToolCall:
    """A recorded tool call, and the record of the model's call to which it belongs."""

    location: str
    role: Role
    record: Mapping[str, Any]
    tool: Mapping[str, Any]


def _replay_tool_calls(pending: list[_RecordedToolCall], play: Play, move: MoveData) -> Iterator[str]:
    """Repeat a turn's tool calls up to the one that made this move; the others wait for the next move."""
    while pending:
        recorded_call = pending.pop(0)
        if recorded_call.tool["fault"] == "ignored":
            continue
        move_made, problem = _repeat_call(play, recorded_call)
        location = f"{recorded_call.location}, {recorded_call.tool['name']}"
        if problem:
            yield f"{location}: {problem}"
        if move_made is None:
            continue
        if move_made != dict(move):
            yield f"{location}: the log has {dict(move)}, the call says {move_made}"
        return


def _repeat_call(play: Play, recorded_call: _RecordedToolCall) -> tuple[MoveData | None, str]:
    """Return the move that the call makes, and any difference from the record."""
    tool, role = recorded_call.tool, recorded_call.role
    offers = [
        offered_tool
        for offered_tool in looping.offers(_asking(play, role, recorded_call.record))
        if offered_tool.name in recorded_call.record["offered"]
    ]
    offer = next((offered_tool for offered_tool in offers if offered_tool.name == tool["name"]), None)
    try:
        if offer is None:
            return None, "" if tool["fault"] else "this tool no longer exists"
        arguments = looping.arguments_of(ToolCall("", tool["name"], tool["arguments"]), offer)
        if isinstance(offer.source, Tool):
            result = looping.as_text(use_tool(play, role, offer.name, arguments))
            return None, "" if result == tool["result"] else "its result is now different"
        move_made = plain_move(looping.checked_move(play, role, offer.source, arguments))
    except (BadAnswer, Refused) as refusal:
        return None, "" if tool["fault"] else f"the call was accepted, but is now refused: {refusal}"
    return (None, "the call was refused, but is now accepted") if tool["fault"] else (move_made, "")
