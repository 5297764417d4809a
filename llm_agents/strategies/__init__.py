"""Ways of asking a model for its move: each builds the messages of one decision from what a role may know."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Protocol

from games import strategies as games_strategies
from games.errors import UnknownGame
from games.interface import Event, Game, Role
from games.play import Play
from games.strategies import Question, Strategy
from llm_agents.errors import BadAgent
from llm_agents.prompting import ABOUT_MARKS, WORDING
from llm_agents.providers.base import ChatMessage
from llm_agents.settings import BARE, Settings
from llm_agents.strategies import alone, conversation, fresh
from llm_agents.strategies.asking import Asking
from llm_agents.strategies.prompts import (
    VARIABLES,
    check_persona,
    check_prompt,
    template_in_force,
)

__all__ = [
    "asking",
    "check_persona",
    "check_prompt",
    "layout_of",
    "messages",
    "prompts_sha256",
    "reads_the_log",
    "strategy_named",
]  # fmt: skip


class Layout(Protocol):
    """(wording, events so far, raw answers by number of their move's event) → messages."""

    def __call__(self, asking: Asking, events: Sequence[Event], answers: Mapping[int, str]) -> list[ChatMessage]: ...


LAYOUTS: Mapping[str, Layout] = {
    "conversation": conversation.messages,
    "fresh": fresh.messages,
    "tools": fresh.messages,
}
"""How the messages of one question are laid out; `looping` handles the conversation of a turn with tools."""


def messages(
    asking: Asking,
    events: Sequence[Event],
    answers: Mapping[int, str] | None = None,
    recalled: tuple[str, str] | None = None,
) -> list[ChatMessage]:
    """Return exactly what a model is sent now; out of turn, everything its role knows so far.

    Args:
        answers: raw answers by number of the move event that they led to, where known.
        recalled: (question, answer) of an earlier call that precedes this one.

    Raises:
        BadText: the instruction text or a prompt cannot be filled in.
    """
    if asking.stands_alone:
        return alone.messages(asking, events, answers or {}, recalled)
    return LAYOUTS[layout_of(asking.play.game, asking.role, asking.settings.strategy)](asking, events, answers or {})


def layout_of(game: Game[Any, Any], role: Role, strategy: str | None) -> str:
    """Return the layout of this role's messages: a name in `LAYOUTS`.

    Raises:
        BadAgent: the game has no such strategy.
    """
    default = "conversation" if game.remembers(role) else "fresh"
    return strategy_named(strategy, game).layout or default


def reads_the_log(game: Game[Any, Any], role: Role, strategy: str | None) -> bool:
    """Return whether this role's messages depend on the log and its own raw answers, not only on the present state.

    Raises:
        BadAgent: the game has no such strategy.
    """
    strategy_used = strategy_named(strategy, game)
    return layout_of(game, role, strategy) == "conversation" or any(
        question.keeps is not None for question in (*strategy_used.modules, strategy_used.move)
    )


def prompts_sha256(game: Game[Any, Any], settings: Settings = BARE, template: str | None = None) -> str:
    """Return the version, as hex, of all texts in force for a model, defaults and the study's own.

    Two studies with the same hash, game and configuration send the same messages in the same situation.

    Args:
        template: the study's own instruction text, if it has one.
    """
    reasons = strategy_named(settings.strategy, game).reasons
    versioned = {
        "game": game.key,
        "rules_version": game.rules_version,
        "strategy": settings.strategy,
        "information": settings.information,
        "instructions": template or game.template_told(settings.information),
        "persona": settings.persona.strip(),
        "prompts": {name: template_in_force(name, settings, reasons=reasons) for name in VARIABLES},
        "short": settings.short,
        "house": [ABOUT_MARKS, WORDING],
    }
    return sha256(json.dumps(versioned, sort_keys=True).encode()).hexdigest()


def asking(
    play: Play,
    role: Role,
    settings: Settings = BARE,
    *,
    template: str | None = None,
    question: Question | None = None,
) -> Asking:
    """Return the wording of one question to one role.

    Args:
        template: the study's own instruction text, if it has one.
        question: one of the strategy's questions; None: the question for the move.

    Raises:
        BadAgent: the game has no such strategy.
        UnknownGame: it has no such role.
    """
    if role not in play.game.roles():
        raise UnknownGame(f"{play.game.key} has no role “{role}”; there are {', '.join(play.game.roles())}.")
    strategy = strategy_named(settings.strategy, play.game)
    told = play.informed(settings.information)
    if strategy.layout == "tools":
        told = told.with_tools()
    return Asking(told, role, settings, template, strategy, question or strategy.move)


def strategy_named(strategy: str | None, game: Game[Any, Any]) -> Strategy:
    """Return the game's strategy of that name; None: "plain".

    Raises:
        BadAgent: there is none; the message lists the known ones.
    """
    name, strategies = strategy or games_strategies.PLAIN, games_strategies.of(game)
    if name not in strategies:
        raise BadAgent(f"{game.key} has no strategy “{name}”; there are {', '.join(strategies)}.")
    return strategies[name]
