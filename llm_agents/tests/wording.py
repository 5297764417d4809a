"""What a model is sent, and how its answer is constrained, with some settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.interface import Event, Form, Json, Role
from games.play import Play
from games.strategies import CHAIN_OF_THOUGHT
from llm_agents import strategies
from llm_agents.parsing import schema_of, shortened_forms
from llm_agents.providers.base import ChatMessage
from llm_agents.settings import PROMPT, Settings, bare
from llm_agents.strategies.asking import Asking

OwnPrompts = Mapping[str, str]


def settings(*, prompts: OwnPrompts | None = None, **changes: Any) -> Settings:
    """Return settings with these changes; None changes nothing."""
    own_texts = {PROMPT + name: text for name, text in (prompts or {}).items()}
    return bare(**{name: value for name, value in changes.items() if value is not None}, **own_texts)


def asking(play: Play, role: Role, *, template: str | None = None, **changes: Any) -> Asking:
    return strategies.asking(play, role, settings(**changes), template=template)


def messages(
    play: Play, role: Role, events: Sequence[Event], *, answers: Mapping[int, str] | None = None, **options: Any
) -> list[ChatMessage]:
    return strategies.messages(asking(play, role, **options), events, answers)


def correction(play: Play, role: Role, reason: str, **options: Any) -> str:
    return asking(play, role, **options).correction(reason)


def answer_schema(forms: Sequence[Form], *, strategy: str | None = None, short: bool = False) -> dict[str, Json]:
    """Return the strict JSON schema of an answer to these forms; `read_move` accepts every answer that conforms."""
    return schema_of(shortened_forms(forms) if short else forms, reasoning=strategy == CHAIN_OF_THOUGHT)
