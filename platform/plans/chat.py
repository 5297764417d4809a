"""A game's chat: when its players may write, to whom and how much, and how models take part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from games.interface import Role
from games.words import gettext as _
from plans.agents import Label
from plans.factors import PlanModel

MEDIATOR = "mediator"
"""Stands for the mediator where a line names its writer; no seat."""
Prompt = Annotated[str, Field(max_length=20_000)]


class Speaking(PlanModel):
    """When models write, and how."""

    model_config = ConfigDict(title="Models in the chat")

    speaks: Literal["never", "addressed", "each"] = Field(
        "each",
        title="Models write",
        description="addressed: after a private message, or one that contains their name. each: they are asked after "
        "every message that they may read, and can stay silent. In turns, whenever it is their turn.",
        json_schema_extra={
            "titles": {"never": "never", "addressed": "when they are addressed", "each": "after each message"}
        },
    )
    opens: bool = Field(False, title="May write the first message")
    prompt: Prompt = Field(
        "",
        title="Prompt",
        description="Your own words to the model about when to write and how. It also knows the rules, its view of the "
        "game and the messages that it may read.",
    )
    typing: Annotated[float, Field(ge=0, le=100)] = Field(
        8,
        title="Typing speed",
        description="A message appears after the time that typing it takes. 0: at once. In a blind study, after the "
        "time that a person would take.",
        json_schema_extra={"unit": "characters per second"},
    )


class Mediator(Speaking):
    """A model without a seat that reads what everyone reads, and writes to everyone."""

    model_config = ConfigDict(title="Mediator")

    agent: Label | None = Field(None, title="Model", json_schema_extra={"agent": True})
    title: Annotated[str, Field(min_length=1, max_length=40)] = Field(
        "Mediator", title="Name", description="As participants see it."
    )


class Chat(PlanModel):
    """Lets the players of a match write to each other."""

    when: Literal["before", "during", "both"] = Field(
        "during", title="When", json_schema_extra={"titles": {"before": "before play", "during": "during play"}}
    )
    seconds: Annotated[int, Field(ge=5, le=3600)] = Field(
        120, title="Time before play", json_schema_extra={"unit": "seconds"}
    )
    early: bool = Field(
        False, title="Ready button before play", description="Play begins before that if everyone is ready."
    )
    mode: Literal["free", "turns"] = Field(
        "free",
        title="Order",
        description="turns: one after the other, in the order of the seats.",
        json_schema_extra={"titles": {"free": "everyone whenever they like", "turns": "in turns"}},
    )
    turn: Annotated[int, Field(ge=5, le=600)] = Field(
        30,
        title="Time for one message, in turns",
        description="After it, it is the next one's turn.",
        json_schema_extra={"unit": "seconds"},
    )
    to: Literal["group", "private", "both"] = Field(
        "group",
        title="To whom",
        json_schema_extra={
            "titles": {"group": "the group", "private": "one other player", "both": "the group, or one other player"}
        },
    )
    between: list[Annotated[list[str], Field(min_length=2)]] = Field(
        default_factory=list,
        title="Who may talk to whom",
        description="Each entry lists seats that talk with each other, such as p1, p2. Empty: everyone with everyone.",
    )
    messages: Annotated[int, Field(ge=1, le=500)] = Field(30, title="Messages per player and match")
    characters: Annotated[int, Field(ge=10, le=2000)] = Field(300, title="Characters per message")
    models: Speaking = Field(Speaking(), title="Models in seats")
    mediator: Mediator | None = Field(None, title="Mediator")

    def readers(self, roles: Iterable[Role], sender: str, to: str = "") -> list[Role]:
        """Return the seats, other than the sender's, that may read a message; none if it may not be sent.

        Args:
            to: the one seat that it is for; empty: the group.
        """
        if sender == MEDIATOR:
            return [] if to else list(roles)
        if (to and self.to == "group") or (not to and self.to == "private"):
            return []
        circles = [circle for circle in self.between if sender in circle]
        return [
            role
            for role in roles
            if role != sender and to in ("", role) and (not self.between or any(role in circle for circle in circles))
        ]

    def speaking(self, sender: str) -> Speaking:
        """Return how the model in this seat, or the mediator, takes part."""
        return self.mediator if sender == MEDIATOR and self.mediator else self.models

    def most_calls(self, roles: Sequence[Role], writer: str, senders: Iterable[str]) -> int:
        """Return how often a model is asked at most if all of the senders write all of their messages."""
        speaking = self.speaking(writer)
        if speaking.speaks == "never":
            return 0
        if self.mode == "turns":
            return self.messages
        heard = [
            sender
            for sender in senders
            if sender != writer
            and (MEDIATOR in (sender, writer) or any(writer in self.readers(roles, sender, to) for to in ("", writer)))
        ]
        return len(heard) * self.messages + speaking.opens


def _unless_default(cls: type[PlanModel], value: Any, info: ValidationInfo) -> Any:
    if value != cls.model_fields[str(info.field_name)].default:
        raise PydanticCustomError("chat", _("A collection has no clock: its models write in turns, at once."))
    return value


class AgentsSpeaking(Speaking):
    """Whether models write, and how."""

    speaks: Literal["never", "each"] = Field(
        "each", title="Models write", json_schema_extra={"titles": {"never": "never", "each": "in their turn"}}
    )
    opens: Literal[False] = False
    typing: Literal[0] = 0  # type: ignore[assignment]

    _clockless = field_validator("opens", "typing", mode="before")(_unless_default)


class AgentsMediator(AgentsSpeaking, Mediator):
    """A model without a seat that reads what everyone reads, and writes to everyone, after the others."""


class AgentsChat(Chat):
    """Lets the models of a match without people write to each other, one after the other."""

    model_config = ConfigDict(title="Chat")

    when: Literal["before", "during", "both"] = Field(
        "before",
        title="When",
        description="before play: until nobody wants to write, or all messages are written. during play: one message "
        "each before every move.",
        json_schema_extra={"titles": {"before": "before play", "during": "during play"}},
    )
    seconds: Literal[120] = 120  # type: ignore[assignment]
    early: Literal[False] = False  # type: ignore[assignment]
    mode: Literal["turns"] = "turns"
    turn: Literal[30] = 30  # type: ignore[assignment]
    messages: Annotated[int, Field(ge=1, le=500)] = Field(3, title="Messages per player and match")
    models: AgentsSpeaking = Field(AgentsSpeaking(), title="Models in seats")
    mediator: AgentsMediator | None = Field(None, title="Mediator")

    _clockless = field_validator("seconds", "early", "mode", "turn", mode="before")(_unless_default)


def frozen(chat: Chat, agents: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a chat as matches keep it: its settings and, if there is one, the mediator's agent.

    Args:
        agents: frozen agents by label.
    """
    label = chat.mediator.agent if chat.mediator else None
    return {"settings": chat.model_dump(mode="json"), **({"agent": agents[label]} if label else {})}
