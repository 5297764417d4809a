"""Everything in one prompt at every turn: rules, present view, question.

The form of Economics Arena and CoopEval, and of each period of EconEvals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from games.interface import Event, Role
from games.play import Play
from llm_agents.prompting import ABOUT_WORDS, question, render, standing
from llm_agents.providers.base import ChatMessage


def messages(
    play: Play, role: Role, events: Sequence[Event], *, template: str | None, answers: Mapping[int, str]
) -> list[ChatMessage]:
    """One message that says all."""
    forms = play.forms(role)
    parts = [f"{play.game.instructions(role, template)}\n{ABOUT_WORDS}"]
    parts += [render(play.view(role)), question(forms)] if forms else [standing(play, role)]
    return [{"role": "user", "content": "\n\n".join(part for part in parts if part)}]
