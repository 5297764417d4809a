"""The parameters of persuasion, its moves, the rounds so far, and what follows from the parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from games.glee import ABOUT_ROUNDS, AliceAndBob, KnownRounds
from games.interface import MESSAGE_LIMIT, Config, Move, Role, Words
from games.persuasion.roles import BUYER, HIGH, LOW, SELLER, Quality
from games.words import gettext_noop


class PersuasionConfig(Config):
    """One treatment. Defaults: the baselines of GLEE's statistical analysis, with text messages."""

    price: float = Field(
        10_000, gt=0, title="Price", description="What a product costs in every round, in the game's own unit."
    )
    prior: float = Field(
        0.5, ge=0, le=1, title="Chance of high quality", description="For each product, independently of the others."
    )
    high_value: float = Field(
        1.25,
        gt=1,
        title="Value of high quality",
        description="What a high-quality product is worth to the buyer, as a multiple of the price; more than 1.",
    )
    low_value: float = Field(
        0,
        ge=0,
        lt=1,
        title="Value of low quality",
        description="What a low-quality product is worth to the buyer, as a multiple of the price; less than 1.",
    )
    rounds: KnownRounds = Field(20, title="Rounds", description=ABOUT_ROUNDS)
    complete_information: bool = Field(
        True,
        title="Complete information",
        description="Whether the seller knows what high and low quality are worth to the buyer.",
    )
    message_type: Literal["text", "binary"] = Field(
        "text",
        title="What the seller sends",
        description="A message of up to 2,000 characters, or a recommendation: yes or no.",
    )
    buyer_type: Literal["long_living", "myopic"] = Field(
        "long_living",
        title="Buyer",
        description="One buyer who remembers all rounds, or a new buyer in every round who sees only statistics.",
    )
    reveal_quality: Literal["always", "if_bought"] = Field(
        "always",
        title="The buyer learns the quality",
        description="After every round, or only after buying the product.",
    )
    qualities: tuple[Quality, ...] | None = Field(
        None,
        title="Fixed qualities",
        description="The quality in each round, one per round. Empty (usual): drawn at random.",
    )
    cap: int = Field(99, ge=1, title="Cap", description="If Rounds is empty: the round after which the game ends.")
    reminder: bool = Field(
        False, title="Reminder", description="Whether buyers are reminded that not buying costs nothing."
    )

    @model_validator(mode="after")
    def _enough_qualities(self) -> PersuasionConfig:
        if self.qualities is not None and self.rounds is not None and len(self.qualities) < self.rounds:
            raise PydanticCustomError(
                "too_few_qualities",
                "qualities: there are only {given} for {rounds} rounds",
                {"given": len(self.qualities), "rounds": self.rounds},
            )
        return self


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("says_nothing", "must not be empty")
    return text


class Pitch(Move):
    """The seller's message about a product."""

    message: Annotated[Words, Field(max_length=MESSAGE_LIMIT), AfterValidator(_not_blank)] = Field(
        title=gettext_noop("Your message"), description=gettext_noop("What you tell the buyer about this product.")
    )


class Recommendation(Move):
    """The seller's recommendation, yes or no."""

    recommendation: Literal["yes", "no"] = Field(
        title=gettext_noop("Your recommendation"),
        description=gettext_noop("Whether you recommend this product to the buyer."),
    )


class Purchase(Move):
    """The buyer's decision."""

    decision: Literal["yes", "no"] = Field(
        title=gettext_noop("Your decision"),
        description=gettext_noop("“yes” buys the product at its price, “no” does not."),
    )


@dataclass(frozen=True)
class Round:
    """One product: its quality, the seller's message or recommendation, and whether it was bought."""

    quality: Quality
    message: str | None = None
    recommendation: Literal["yes", "no"] | None = None
    decision: Literal["yes", "no"] | None = None

    @property
    def offered(self) -> bool:
        return self.message is not None or self.recommendation is not None

    @property
    def bought(self) -> bool:
        return self.decision == "yes"


@dataclass(frozen=True)
class Market:
    """All rounds so far, oldest first; the last one may be unfinished."""

    rounds: tuple[Round, ...]

    @property
    def played(self) -> tuple[Round, ...]:
        """The finished rounds."""
        return self.rounds if self.rounds[-1].decision is not None else self.rounds[:-1]

    @property
    def now(self) -> Round | None:
        """The current round; None when the game is over."""
        return self.rounds[-1] if self.rounds[-1].decision is None else None


class PersuasionCore(AliceAndBob[PersuasionConfig, Market]):
    """What scripts and views ask of the game, besides the rules of all games between Alice and Bob."""

    def remembers(self, role: Role) -> bool:
        return not (self.myopic and role == BUYER)

    @property
    def myopic(self) -> bool:
        """Whether every round has a new buyer."""
        return self.config.buyer_type == "myopic"

    def knows_values(self, role: Role) -> bool:
        """Return whether the role knows what high and low quality are worth to the buyer."""
        return role == BUYER or self.config.complete_information

    def revealed(self, past_round: Round) -> bool:
        """Return whether the buyer learnt the quality of a finished round's product."""
        return past_round.bought or self.config.reveal_quality == "always"

    def gain(self, quality: Quality) -> float:
        """Return what buying a product of this quality earns the buyer, in the game's own unit."""
        value = self.config.high_value if quality == HIGH else self.config.low_value
        return self.config.price * (value - 1)

    def earned(self, rounds: tuple[Round, ...], role: Role) -> float:
        """Return what the role earned in these rounds, in the game's own unit."""
        if role == SELLER:
            return self.config.price * sum(past_round.bought for past_round in rounds)
        high = sum(past_round.bought and past_round.quality == HIGH for past_round in rounds)
        low = sum(past_round.bought and past_round.quality == LOW for past_round in rounds)
        return high * self.gain(HIGH) + low * self.gain(LOW)

    def is_last(self, state: Market) -> bool:
        """Return whether the current round is the last one, as far as the players know."""
        return len(state.rounds) == self.config.rounds
