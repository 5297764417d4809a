"""A single question, preceded by the earlier calls that its strategy recalls.

The form of AucArena: rules; the latest plan, question and answer; the role's own answers on this item; the question.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from games.interface import Event
from games.play import OwnMove, form_for, story
from llm_agents.providers.base import ChatMessage
from llm_agents.strategies.asking import Asking


def messages(
    asking: Asking, events: Sequence[Event], answers: Mapping[int, str], recalled: tuple[str, str] | None
) -> list[ChatMessage]:
    """Return the rules, the recalled call, the role's own kept answers, and the question.

    Args:
        recalled: question and answer of the earlier call that precedes this one, if there is one.
    """
    play = asking.play
    chat: list[ChatMessage] = [{"role": "system", "content": asking.system()}]
    if recalled is not None:
        chat += [{"role": "user", "content": recalled[0]}, {"role": "assistant", "content": recalled[1]}]
    for own_move in _kept_answers(asking, events):
        question = asking.question_text(own_move.before, own_move.forms, "")
        move = json.dumps(own_move.move, ensure_ascii=False)
        chat += [
            {"role": "user", "content": question},
            {"role": "assistant", "content": answers.get(own_move.number, move)},
        ]
    chat.append({"role": "user", "content": asking.question_text(play, play.forms(asking.role), asking.news())})
    return chat


def _kept_answers(asking: Asking, events: Sequence[Event]) -> list[OwnMove]:
    keeps, play, role = asking.question.keeps, asking.play, asking.role
    if keeps is None:
        return []
    return [
        entry
        for entry in story(play, events, role)
        if isinstance(entry, OwnMove)
        and form_for(entry.forms, entry.move) in asking.forms(entry.forms)
        and keeps(play.game, entry.before.state, play.state, role)
    ]
