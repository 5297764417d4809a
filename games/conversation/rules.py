"""Conversation: players talk in the chat beside it until all are ready to go on, or the time is up. It pays nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import Field

from games.interface import Chance, Config, Form, Json, Move, MoveData, Payoffs, Role, Text, Turn, View
from games.results import Row, column
from games.scripts import random_move
from games.seats import EqualSeats
from games.words import gettext as _
from games.words import gettext_noop


class ConversationConfig(Config):
    """Who talks, and about what."""

    players: int = Field(2, ge=1, le=20, title="Players", description="Number of seats, from 1 to 20.")
    topic: str = Field("", max_length=20_000, title="Topic", description="What the players are asked to talk about.")


class Ready(Move):
    """Says that a player is ready to go on."""

    answer: Literal["go_on"] = Field(title=gettext_noop("Are you ready to go on?"))


@dataclass(frozen=True)
class Talked:
    """Whether the conversation is over."""

    over: bool = False


class Conversation(EqualSeats[ConversationConfig, Talked]):
    """Nothing but the question whether the players are ready to go on."""

    title = gettext_noop("Chat")
    summary = gettext_noop("Players talk and then go on.")
    scripts = {"random": random_move}
    move_types = (Ready,)
    pays = False
    time_ends = True
    answers_can_change = False

    class Results(Row):
        seats: int = column("Number of seats.")

    def text_variables(self, role: Role) -> Mapping[str, Json]:
        return {**super().text_variables(role), "you": self.role_title(role)}

    def turn(self, state: Talked) -> Turn | None:
        form = Form("ready", _("When you have finished talking"), Ready, help=_("You go on when everyone is ready."))
        return None if state.over else Turn(dict.fromkeys(self.roles(), (form,)))

    def apply(self, state: Talked, moves: Mapping[Role, Ready], chance: Chance) -> Talked:
        return replace(state, over=True)

    def default(self, state: Talked, role: Role) -> MoveData:
        return {"answer": "go_on"}

    def view(self, state: Talked, role: Role) -> View:
        said = _("The chat is over.") if state.over else self.config.topic or _("You can talk now.")
        return (Text("topic", said),)

    def notices(self, before: Talked, moves: Mapping[Role, Ready], after: Talked, role: Role) -> View:
        return (Text("over", _("The chat is over.")),)

    def payoffs(self, state: Talked) -> Payoffs:
        return dict.fromkeys(self.roles(), 0.0)

    def metrics(self, state: Talked) -> Results:
        return self.Results(seats=self.config.players)

    def pays_alike(self) -> bool:
        return True

    def bonus_share(self, role: Role, payoff: float) -> float:
        return 0.0
