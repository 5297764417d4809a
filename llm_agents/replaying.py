"""Recorded answers, read again: do they lead to the same moves, and break the same rules?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from games.errors import Refused
from games.interface import Event, Game, Role
from games.play import Play, check, plain_move, start, submit
from llm_agents.errors import BadAnswer
from llm_agents.parsing import read_move

Records = Mapping[tuple[Role, int], Sequence[Mapping[str, Any]]]
"""The records of the calls of each turn, by role and number of the event that opened it, in order."""


def differences(game: Game[Any, Any], events: Iterable[Event], records: Records) -> list[str]:
    """Play a log again and feed the stored answers back: whatever comes out otherwise, in words.

    Answers that were refused must be refused again; the one that was accepted must be the move of the log.
    Moves that somebody else made (a script, the clock) have no accepted answer.

    Args:
        events: the whole log.
        records: `CallRecord`s as plain data.
    """
    log = list(events)
    play, _made = start(game, log[0].data["seed"])
    found = []
    for event in log:
        if event.kind != "move":
            continue
        role, move = event.data["role"], event.data["move"]
        for record in records.get((role, play.opened[role]), ()):
            if record.get("answer") is None:
                continue
            if problem := _difference(play, role, record, move):
                found.append(f"event {event.number}, {role}, try {record['try_number']}: {problem}")
        play, _made = submit(play, role, move, by=event.data.get("by"))
    return found


def _difference(play: Play, role: Role, record: Mapping[str, Any], move: Mapping[str, Any]) -> str | None:
    try:
        read = read_move(record["answer"], play.forms(role), short=record.get("short", False))
        _form, checked = check(play, role, read)
    except (BadAnswer, Refused) as refusal:
        return None if record.get("problem") else f"the answer was taken, now it is refused: {refusal}"
    if record.get("problem"):
        return f"the answer was refused, now it is taken: {record['problem']}"
    again = plain_move(checked)
    return None if again == dict(move) else f"the log has {dict(move)}, the answer says {again}"
