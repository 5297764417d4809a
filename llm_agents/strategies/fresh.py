"""Everything in one prompt at every turn: rules, present view, question.

The form of Economics Arena and CoopEval, and of each period of EconEvals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from games.interface import Event
from llm_agents.prompting import situation
from llm_agents.providers.base import ChatMessage
from llm_agents.strategies.asking import Asking


def messages(asking: Asking, events: Sequence[Event], answers: Mapping[int, str]) -> list[ChatMessage]:
    """Return one message that contains everything."""
    play, role = asking.play, asking.role
    forms = play.forms(role)
    text = asking.question_text(play, forms, asking.news()) if forms else situation(play, role)
    return [{"role": "user", "content": f"{asking.system()}\n\n{text}"}]
