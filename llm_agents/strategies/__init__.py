"""Ways of asking a model for its move: each makes the messages of one decision from what a role may know."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from games.errors import UnknownGame
from games.interface import Event, Game, Role
from games.play import Play
from llm_agents.errors import BadAgent
from llm_agents.parsing import CHAIN_OF_THOUGHT
from llm_agents.prompting import ABOUT_WORDS, WORDING
from llm_agents.providers.base import ChatMessage
from llm_agents.strategies import conversation, fresh
from llm_agents.strategies.asking import Asking
from llm_agents.strategies.prompts import (
    VARIABLES,
    Prompts,
    Texts,
    check_persona,
    check_prompts,
    in_force,
    prompts_of,
)

__all__ = [
    "CHAIN_OF_THOUGHT", "STRATEGIES", "Prompts", "Strategy", "check_persona", "check_prompts", "correction",
    "messages", "prompts_sha256",
]  # fmt: skip


class Layout(Protocol):
    """(wording, events so far, raw answers by number of their move's event) → messages."""

    def __call__(self, asking: Asking, events: Sequence[Event], answers: Mapping[int, str]) -> list[ChatMessage]: ...


@dataclass(frozen=True)
class Strategy:
    """A way of asking.

    Attributes:
        layout: None: a conversation, unless the game says that the role does not remember.
        reasons: whether the model is asked to reason step by step before its move.
    """

    layout: Layout | None = None
    reasons: bool = False


STRATEGIES: Mapping[str, Strategy] = {
    "plain": Strategy(),
    CHAIN_OF_THOUGHT: Strategy(reasons=True),
    "conversation": Strategy(conversation.messages),
    "fresh": Strategy(fresh.messages),
}


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
) -> list[ChatMessage]:
    """Exactly what a model in this role is sent now; out of turn, all that it knows so far.

    Args:
        strategy: a name in `STRATEGIES`; None: "plain".
        template: the study's own instruction text, if it has one.
        answers: raw answers by number of the move event that they led to, where they are known.
        persona: who the model is to be: a section before the rules.
        prompts: the study's own texts around rules and questions.
        short: ask for short forms, where there are any.

    Raises:
        BadAgent: there is no such strategy.
        UnknownGame: the game has no such role.
        BadText: the instruction text or a prompt cannot be filled in.
    """
    asking = _asking(play, role, strategy, template, persona, prompts, short)
    layout = _called(strategy).layout
    if layout is None:
        layout = conversation.messages if play.game.remembers(role) else fresh.messages
    return layout(asking, events, answers or {})


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
) -> str:
    """What a model is told about an answer that was no legal move; arguments and errors as for `messages`."""
    return _asking(play, role, strategy, template, persona, prompts, short).correction(reason)


def prompts_sha256(
    game: Game[Any, Any],
    *,
    strategy: str | None = None,
    template: str | None = None,
    persona: str | None = None,
    prompts: Texts | None = None,
    short: bool = False,
) -> str:
    """The version of everything that is worded for a model, as hex: the texts in force, whoever wrote them.

    Two studies with the same hash, game and configuration send the same messages in the same situation.
    """
    texts = prompts_of(prompts)
    reasons = _called(strategy).reasons
    worded = {
        "game": game.key,
        "rules_version": game.rules_version,
        "strategy": strategy or "plain",
        "instructions": template or game.instruction_template(),
        "persona": (persona or "").strip(),
        "prompts": {name: in_force(name, texts, reasons=reasons) for name in VARIABLES},
        "short": short,
        "house": [ABOUT_WORDS, WORDING],
    }
    return sha256(json.dumps(worded, sort_keys=True).encode()).hexdigest()


def _asking(
    play: Play,
    role: Role,
    strategy: str | None,
    template: str | None,
    persona: str | None,
    prompts: Texts | None,
    short: bool,
) -> Asking:
    if role not in play.game.roles():
        raise UnknownGame(f"{play.game.key} has no role “{role}”; there are {', '.join(play.game.roles())}.")
    return Asking(play, role, template, persona or "", prompts_of(prompts), short, _called(strategy).reasons)


def _called(strategy: str | None) -> Strategy:
    name = strategy or "plain"
    if name not in STRATEGIES:
        raise BadAgent(f"There is no strategy “{name}”; there are {', '.join(STRATEGIES)}.")
    return STRATEGIES[name]
