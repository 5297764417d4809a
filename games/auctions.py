"""Shared by auctions of one item with private values: drawn or listed values, the equilibrium, the bonus.

Source: Economics Arena, section 3 and appendix B. Each seat has assets A and knows only its own value of the
item; the winner ends with A - price + value, everybody else with A.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random
from statistics import NormalDist
from typing import Annotated, Any, TypeVar

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from games.interface import Chance, Config, Fact, Json, MoveWarning, Prospect, Role
from games.results import in_unit
from games.seats import EqualSeats
from games.words import exact, gettext_noop
from games.words import gettext as _

Units = Annotated[float, in_unit("units")]
MIN_SHARE_WITHIN_ASSETS = 1e-6
"""Smallest share of drawn values that may be within the assets; values outside are redrawn."""


class AscendingConfig(Config):
    """What pages of ascending auctions offer."""

    minimum_button: bool = Field(
        False, title="Button for the lowest bid", description="Whether pages offer the lowest bid as a button."
    )


class AuctionConfig(Config):
    """The bidders, their assets, and what the item is worth to them."""

    players: int = Field(5, ge=2, le=20, title="Bidders", description="Number of seats, from 2 to 20.")
    assets: float = Field(
        1000, gt=0, title="Assets", description="What each bidder has, and the highest possible bid; in units."
    )
    values: tuple[Annotated[float, Field(gt=0)], ...] | None = Field(
        None,
        title="Values",
        description="What the item is worth to each bidder, one value per bidder. Empty: drawn at random.",
    )
    value_mean: float = Field(500, gt=0, title="Mean of the values", description="Of the normal distribution.")
    value_sd: float = Field(
        100,
        gt=0,
        title="Standard deviation of the values",
        description="Values are redrawn until they are within the assets. It also scales the bonus.",
    )

    @model_validator(mode="after")
    def _values_fit(self) -> AuctionConfig:
        if self.values is None:
            if _share_within(self) < MIN_SHARE_WITHIN_ASSETS:
                raise PydanticCustomError(
                    "no_values", "value_mean, value_sd: hardly any drawn value would be within the assets"
                )
        elif len(self.values) != self.players:
            raise PydanticCustomError(
                "number_of_values",
                "values: there are {given} for {players} bidders",
                {"given": len(self.values), "players": self.players},
            )
        elif max(self.values) > self.assets:
            raise PydanticCustomError(
                "value_beyond_assets",
                "values: each must be at most the assets, {assets}",
                {"assets": exact(self.assets)},
            )
        return self


def _share_within(config: AuctionConfig) -> float:
    """Return the share of drawn values that are in (0, A] once rounded to two decimals."""
    highest = math.floor(config.assets * 100) / 100
    if highest < 0.01:
        return 0.0
    distribution = NormalDist(config.value_mean, config.value_sd)
    return distribution.cdf(highest + 0.005) - distribution.cdf(0.005)


def units(amount: float) -> str:
    """Return an amount of assets to two decimals.

    >>> units(1023.0800000000001), units(1)
    ('1,023.08 units', '1 unit')
    """
    return _("1 unit") if amount == 1 else _("{amount} units").format(amount=f"{round(amount, 2):,.10g}")


def own_facts(config: AuctionConfig, value: float) -> tuple[Fact, Fact]:
    """Return a bidder's value and assets."""
    return (
        Fact("value", _("Worth to you"), value, units(value)),
        Fact("assets", _("Your assets"), config.assets, units(config.assets)),
    )


def above_value(value: float, price: float) -> MoveWarning | None:
    """Return a warning about paying more than the item is worth to the bidder."""
    if price <= value:
        return None
    words = _("The item is worth {value} to you. If you buy it for {price}, you lose {loss}.")
    return MoveWarning(words.format(value=units(value), price=units(price), loss=units(price - value)))


C = TypeVar("C", bound=AuctionConfig)
S = TypeVar("S")


class PrivateValues(EqualSeats[C, S]):
    """An auction of one item whose state holds what it is worth to each seat: `values`, in seat order."""

    seat_title = gettext_noop("Bidder")
    unseated_title = gettext_noop("a bidder")

    def secrets(self, role: Role) -> frozenset[str]:
        """Hide the others' listed values."""
        if self.config.values is None:
            return frozenset()
        return frozenset(f"values[{index}]" for index, seat in enumerate(self.roles()) if seat != role)

    def with_seats(self, seats: int) -> Mapping[str, Json]:
        """Return the configuration with this number of bidders; the first listed values are kept."""
        listed = self.config.values
        values = None if listed is None or len(listed) < seats else list(listed[:seats])
        return {**self.config.model_dump(mode="json"), "players": seats, "values": values}

    def draw_values(self, chance: Chance) -> tuple[float, ...]:
        """Return what the item is worth to each seat: as listed, or drawn and known only to that seat."""
        config = self.config

        def sample(rng: Random) -> float:
            while True:
                value = round(rng.gauss(config.value_mean, config.value_sd), 2)
                if 0 < value <= config.assets:
                    return value

        if config.values is not None:
            return config.values
        return tuple(chance.draw(f"value of {role}", sample, known_to=(role,)) for role in self.roles())

    def value(self, state: Any, role: Role) -> float:
        """Return what the item is worth to a seat."""
        value: float = state.values[self.roles().index(role)]
        return value

    def equilibrium_assets(self, state: Any, role: Role) -> float:
        """Return N: the seat's final assets if everybody bids their value, or stays in until the price reaches it.

        N is A except for the seat with the highest value (the lowest seat on ties), which pays the second-highest.
        """
        values: Sequence[float] = state.values
        winner = values.index(max(values))
        if winner != self.roles().index(role):
            return self.config.assets
        return self.config.assets - max(value for seat, value in enumerate(values) if seat != winner) + values[winner]

    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return ½ + (payoff - A)/(4·value_sd) within [0, 1]: from a loss to a gain of 2·value_sd."""
        return min(max(0.5 + (payoff - self.config.assets) / (4 * self.config.value_sd), 0.0), 1.0)

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        """Return two examples: ending with the assets, and with a tenth more."""
        words = _("if you end with {amount}")
        return tuple(
            self.prospect(words.format(amount=units(payoff)), role, payoff)
            for payoff in (self.config.assets, 1.1 * self.config.assets)
        )
