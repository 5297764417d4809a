"""One conversation over the whole match, the form in which GLEE asks its models.

system: the instructions; user: what happened since the last move, and the question; assistant:
the move. Refused tries are not carried forward, so each turn's messages begin with those of the
turn before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from games.interface import Event, Role, View
from games.play import OwnMove, Play, start, story
from llm_agents.prompting import render, situation
from llm_agents.providers.base import ChatMessage
from llm_agents.strategies.asking import Asking

STATUS = "status"
"""Key of the block in which games show what to do now."""


def messages(asking: Asking, events: Sequence[Event], answers: Mapping[int, str]) -> list[ChatMessage]:
    """Return the conversation so far, ending with the question (or, out of turn, with everything known)."""
    play, role = asking.play, asking.role
    chat: list[ChatMessage] = [{"role": "system", "content": asking.system()}]
    opening, _events = start(play.game, play.seed)
    news = [render(_opening_view(opening, role))]
    for entry in story(play, events, role):
        if isinstance(entry, OwnMove):
            question = asking.question_text(entry.before, entry.forms, _joined(news))
            chat.append({"role": "user", "content": question})
            move = json.dumps(entry.move, ensure_ascii=False)
            chat.append({"role": "assistant", "content": answers.get(entry.number, move)})
            news = []
        else:
            news.append(render(entry))
    if forms := play.forms(role):
        last_text = asking.question_text(play, forms, _joined(news))
    else:
        last_text = _joined([*news, situation(play, role)])
    chat.append({"role": "user", "content": last_text})
    return chat


def _opening_view(opening: Play, role: Role) -> View:
    """Return what the role knew before anyone moved, without the block that says that others move first."""
    view = opening.view(role)
    return view if opening.forms(role) else tuple(block for block in view if block.key != STATUS)


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)
