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
from games.strategies import CHAIN_OF_THOUGHT, Question, Strategy
from llm_agents.errors import BadAgent
from llm_agents.prompting import ABOUT_MARKS, WORDING
from llm_agents.providers.base import ChatMessage
from llm_agents.strategies import alone, conversation, fresh
from llm_agents.strategies.asking import Asking
from llm_agents.strategies.prompts import (
    VARIABLES,
    Prompts,
    Texts,
    check_persona,
    check_prompts,
    prompts_of,
    template_in_force,
)

__all__ = [
    "CHAIN_OF_THOUGHT",
    "STRATEGIES",
    "Prompts",
    "Strategy",
    "asking",
    "check_persona",
    "check_prompts",
    "correction",
    "layout_of",
    "messages",
    "prompts_sha256",
    "reads_the_log",
    "strategy_named",
]  # fmt: skip


class Layout(Protocol):
    """(wording, events so far, raw answers by number of their move's event) → messages."""

    def __call__(self, asking: Asking, events: Sequence[Event], answers: Mapping[int, str]) -> list[ChatMessage]: ...


STRATEGIES: Mapping[str, Strategy] = games_strategies.USUAL
LAYOUTS: Mapping[str, Layout] = {
    "conversation": conversation.messages,
    "fresh": fresh.messages,
    "tools": fresh.messages,
}
"""How the messages of one question are laid out; `looping` handles the conversation of a turn with tools."""


def messages(
    play: Play,
    role: Role,
    events: Sequence[Event],
    *,
    strategy: str | None = None,
    template: str | None = None,
    answers: Mapping[int, str] | None = None,
    persona: str | None = None,
    prompts: Texts | None = None,
    short: bool = False,
    question: Question | None = None,
    recalled: tuple[str, str] | None = None,
) -> list[ChatMessage]:
    """Return exactly what a model in this role is sent now; out of turn, everything it knows so far.

    Args:
        strategy: one of the game's, by name; None: "plain".
        template: the study's own instruction text, if it has one.
        answers: raw answers by number of the move event that they led to, where known.
        persona: who the model should be: a section before the rules.
        prompts: the study's own texts around rules and questions.
        short: ask for short forms, where there are any.
        question: one of the strategy's questions; None: the question for the move.
        recalled: (question, answer) of an earlier call that precedes this one.

    Raises:
        BadAgent: there is no such strategy.
        UnknownGame: the game has no such role.
        BadText: the instruction text or a prompt cannot be filled in.
    """
    wording = asking(
        play,
        role,
        strategy=strategy,
        template=template,
        persona=persona,
        prompts=prompts,
        short=short,
        question=question,
    )
    if wording.stands_alone:
        return alone.messages(wording, events, answers or {}, recalled)
    return LAYOUTS[layout_of(play.game, role, strategy)](wording, events, answers or {})


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


def correction(
    play: Play,
    role: Role,
    reason: str,
    *,
    strategy: str | None = None,
    template: str | None = None,
    persona: str | None = None,
    prompts: Texts | None = None,
    short: bool = False,
    question: Question | None = None,
) -> str:
    """Return the correction for an answer that was not a legal move; arguments and errors as for `messages`."""
    wording = asking(
        play,
        role,
        strategy=strategy,
        template=template,
        persona=persona,
        prompts=prompts,
        short=short,
        question=question,
    )
    return wording.correction(reason)


def prompts_sha256(
    game: Game[Any, Any],
    *,
    strategy: str | None = None,
    template: str | None = None,
    persona: str | None = None,
    prompts: Texts | None = None,
    short: bool = False,
) -> str:
    """Return the version, as hex, of all texts in force for a model, defaults and the study's own.

    Two studies with the same hash, game and configuration send the same messages in the same situation.
    """
    texts = prompts_of(prompts)
    reasons = strategy_named(strategy, game).reasons
    versioned = {
        "game": game.key,
        "rules_version": game.rules_version,
        "strategy": strategy or "plain",
        "instructions": template or game.instruction_template(),
        "persona": (persona or "").strip(),
        "prompts": {name: template_in_force(name, texts, reasons=reasons) for name in VARIABLES},
        "short": short,
        "house": [ABOUT_MARKS, WORDING],
    }
    return sha256(json.dumps(versioned, sort_keys=True).encode()).hexdigest()


def asking(
    play: Play,
    role: Role,
    *,
    strategy: str | None = None,
    template: str | None = None,
    persona: str | None = None,
    prompts: Texts | None = None,
    short: bool = False,
    question: Question | None = None,
) -> Asking:
    """Return the wording of one question to one role; arguments and errors as for `messages`."""
    if role not in play.game.roles():
        raise UnknownGame(f"{play.game.key} has no role “{role}”; there are {', '.join(play.game.roles())}.")
    strategy_used = strategy_named(strategy, play.game)
    return Asking(
        play, role, template, persona or "", prompts_of(prompts), short, strategy_used, question or strategy_used.move
    )


def strategy_named(strategy: str | None, game: Game[Any, Any]) -> Strategy:
    """Return the game's strategy of that name; None: "plain".

    Raises:
        BadAgent: there is none; the message lists the known ones.
    """
    name, strategies = strategy or games_strategies.PLAIN, games_strategies.of(game)
    if name not in strategies:
        raise BadAgent(f"{game.key} has no strategy “{name}”; there are {', '.join(strategies)}.")
    return strategies[name]
