"""The parameters of bargaining, its moves, the offers so far, and what follows from the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from games.glee import ABOUT_MESSAGE, ABOUT_MESSAGES, ABOUT_ROUNDS, ALICE, AlternatingOffers, KnownRounds, Offers
from games.interface import Config, Message, Move, MoveData, NoMessage, Role
from games.words import gettext_noop

Factor = Annotated[float, Field(gt=0, le=1)]


class BargainingConfig(Config):
    """One treatment. Defaults: the baselines of GLEE's statistical analysis."""

    money: float = Field(10_000, gt=0, title="Money to divide", description="In the game's own unit.")
    delta_alice: Factor = Field(
        0.9,
        title="Alice's discount factor",
        description="Share of its value that a payoff keeps for her per round: at 0.9 it loses 10%, at 1 nothing.",
    )
    delta_bob: Factor = Field(
        0.9, title="Bob's discount factor", description="Share of its value that a payoff keeps for him per round."
    )
    rounds: KnownRounds = Field(12, title="Rounds", description=ABOUT_ROUNDS)
    complete_information: bool = Field(
        True, title="Complete information", description="Whether each player knows the other's discount factor."
    )
    messages_allowed: bool = Field(True, title="Messages", description=ABOUT_MESSAGES)
    cap: int = Field(
        99, ge=1, title="Cap", description="If Rounds is empty: the round after which the game ends without agreement."
    )


class Split(Move):
    alice_gain: float = Field(
        ge=0, title=gettext_noop("Alice gets"), description=gettext_noop("Before any loss of value.")
    )
    bob_gain: float = Field(ge=0, title=gettext_noop("Bob gets"), description=gettext_noop("Before any loss of value."))


class Offer(Split):
    """A proposed split with an optional message."""

    message: Message = Field(None, title=gettext_noop("Message"), description=ABOUT_MESSAGE)


class SilentOffer(Split):
    """A proposed split in a game without messages."""

    message: NoMessage = None


class Answer(Move):
    """The answer to an offer."""

    decision: Literal["accept", "reject"] = Field(title=gettext_noop("Your answer"))


@dataclass(frozen=True)
class Proposal:
    """One round: who offered what, in undiscounted money, and the answer."""

    by: Role
    alice_gain: float
    bob_gain: float
    message: str | None = None
    answer: Literal["accept", "reject"] | None = None

    def gain(self, role: Role) -> float:
        return self.alice_gain if role == ALICE else self.bob_gain


@dataclass(frozen=True)
class Rounds(Offers[Proposal]):
    """All rounds so far, oldest first; the last one may still be unanswered."""

    proposals: tuple[Proposal, ...] = ()


class BargainingCore(AlternatingOffers[BargainingConfig, Rounds]):
    """What scripts and views ask of the game, besides the rules of all games of offers."""

    def delta(self, role: Role) -> float:
        """Return the role's discount factor per round."""
        return self.config.delta_alice if role == ALICE else self.config.delta_bob

    def worth(self, role: Role, number: int) -> float:
        """Return what a unit of money agreed on in round `number` is worth to the role: δ^(t-1)."""
        return self.delta(role) ** (number - 1)

    def knows_other(self) -> bool:
        """Return whether players know that money loses value at a different rate for the other player."""
        return self.config.complete_information and self.config.delta_alice != self.config.delta_bob

    def split(self, role: Role, own_part: float, message: str | None) -> MoveData:
        """Return an offer that keeps `own_part` of the money; the parts add up exactly, in cents if possible."""
        money = self.config.money
        other_part = money - own_part
        if own_part + round(other_part, 2) == money:
            other_part = round(other_part, 2)
        gains = (own_part, other_part) if role == ALICE else (other_part, own_part)
        return {"alice_gain": gains[0], "bob_gain": gains[1], **({"message": message} if message else {})}
