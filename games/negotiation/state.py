"""The parameters of negotiation, its moves, the prices so far, and what follows from the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from games.glee import ABOUT_MESSAGE, ABOUT_MESSAGES, ABOUT_ROUNDS, AlternatingOffers, KnownRounds, Offers, other
from games.interface import Config, Message, Move, NoMessage, Role
from games.negotiation.roles import SELLER
from games.words import gettext_noop

Factor = Annotated[float, Field(gt=0)]


Decision = Literal["accept", "reject", "walk_away"]


VALUES = (1e-100, 1e100)
"""The smallest and the largest value in dollars; sums and squares of values between them are finite floats."""


class NegotiationConfig(Config):
    """One treatment. Defaults: the baselines of GLEE's statistical analysis, with ten rounds and messages."""

    scale: float = Field(
        10_000, gt=0, title="Price scale", description="What a factor of 1 is worth, in the game's own unit."
    )
    seller_factor: Factor = Field(
        1,
        title="Seller's value factor",
        description="The product's value to Alice, who sells, as a multiple of the scale.",
    )
    buyer_factor: Factor = Field(
        1, title="Buyer's value factor", description="The product's value to Bob, who buys, as a multiple of the scale."
    )
    rounds: KnownRounds = Field(10, title="Rounds", description=ABOUT_ROUNDS)
    complete_information: bool = Field(
        True,
        title="Complete information",
        description="Whether each player knows what the product is worth to the other.",
    )
    messages_allowed: bool = Field(True, title="Messages", description=ABOUT_MESSAGES)
    outside_option: bool = Field(
        True,
        title="Outside option",
        description="Whether an answer may also be to walk away: trading elsewhere at one's own value, for no gain.",
    )
    cap: int = Field(
        99, ge=1, title="Cap", description="If Rounds is empty: the round after which the game ends without a trade."
    )

    @model_validator(mode="after")
    def _values_are_amounts(self) -> NegotiationConfig:
        for factor in (self.seller_factor, self.buyer_factor):
            if not VALUES[0] <= self.scale * factor <= VALUES[1]:
                raise PydanticCustomError("no_amount", "The scale times each factor must be an amount of money.")
        return self


class _Priced(Move):
    price: float = Field(ge=0, title=gettext_noop("Price"), description=gettext_noop("0 or more."))


class Offer(_Priced):
    """A price with an optional message."""

    message: Message = Field(None, title=gettext_noop("Message"), description=ABOUT_MESSAGE)


class SilentOffer(_Priced):
    """A price in a game without messages."""

    message: NoMessage = None


class _Answer(Move):
    """The answer to a price."""

    decision: Decision


class Answer(_Answer):
    """An answer without an outside option."""

    decision: Literal["accept", "reject"] = Field(title=gettext_noop("Your answer"))


class AnswerOrLeave(_Answer):
    """An answer with an outside option."""

    decision: Decision = Field(title=gettext_noop("Your answer"))


@dataclass(frozen=True)
class Proposal:
    """One round: who named which price, and the answer."""

    by: Role
    price: float
    message: str | None = None
    answer: Decision | None = None


@dataclass(frozen=True)
class Rounds(Offers[Proposal]):
    """All rounds so far, oldest first; the last one may still be unanswered."""

    proposals: tuple[Proposal, ...] = ()


class NegotiationCore(AlternatingOffers[NegotiationConfig, Rounds]):
    """What scripts and views ask of the game, besides the rules of all games of offers."""

    def value(self, role: Role) -> float:
        """Return what the product is worth to the role, in the game's own unit."""
        return self.config.scale * (self.config.seller_factor if role == SELLER else self.config.buyer_factor)

    def value_of_other(self, role: Role) -> float | None:
        """Return what the product is worth to the opponent; None if `role` may not know it."""
        return self.value(other(role)) if self.config.complete_information else None
