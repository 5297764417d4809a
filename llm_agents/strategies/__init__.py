"""Ways of asking a model for its move: each makes the messages of one decision from what a role may know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from games.errors import UnknownGame
from games.interface import Event, Role
from games.play import Play
from llm_agents.errors import BadAgent
from llm_agents.providers.base import ChatMessage
from llm_agents.strategies import conversation, fresh


class Strategy(Protocol):
    """(play, role, events so far) → messages.

    Args of the call:
        template: the study's own instruction text, if it has one.
        answers: raw answers by number of the move event that they led to, where they are known.
    """

    def __call__(
        self, play: Play, role: Role, events: Sequence[Event], *, template: str | None, answers: Mapping[int, str]
    ) -> list[ChatMessage]: ...


STRATEGIES: Mapping[str, Strategy] = {"conversation": conversation.messages, "fresh": fresh.messages}


def messages(
    play: Play,
    role: Role,
    events: Sequence[Event],
    *,
    strategy: str | None = None,
    template: str | None = None,
    answers: Mapping[int, str] | None = None,
) -> list[ChatMessage]:
    """Exactly what a model in this role is sent now; out of turn, all that it knows so far.

    Args:
        strategy: a name in `STRATEGIES`; None: a conversation, unless the game says that the role
            does not remember.

    Raises:
        BadAgent: there is no such strategy.
        UnknownGame: the game has no such role.
    """
    if role not in play.game.roles():
        raise UnknownGame(f"{play.game.key} has no role “{role}”; there are {', '.join(play.game.roles())}.")
    name = strategy or ("conversation" if play.game.remembers(role) else "fresh")
    if name not in STRATEGIES:
        raise BadAgent(f"There is no strategy “{name}”; there are {', '.join(STRATEGIES)}.")
    return STRATEGIES[name](play, role, events, template=template, answers=answers or {})
