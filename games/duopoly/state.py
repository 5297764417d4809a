"""The parameters of the duopoly, its move, the prices so far, and what follows from the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from games.duopoly.market import Market, References, references
from games.interface import Form, Move, Role, TwoSources
from games.periods import Periods, PeriodsConfig
from games.practice import WithPractice
from games.words import gettext_noop

FIRMS: tuple[Role, Role] = ("firm_1", "firm_2")


HIGHEST_PRICE = 1_000_000


class DuopolyConfig(PeriodsConfig, TwoSources):
    """One treatment. Defaults: the paper's market."""

    periods: int = Field(300, ge=1, le=300, title="Periods", description="Number of periods; players are not told.")
    alpha: float = Field(1.0, gt=0, title="Currency", description="α: multiplies all prices and costs.")
    quality: float = Field(2.0, title="Quality", description="a: how much customers value the products.")
    outside: float = Field(0.0, title="Outside option", description="a₀: how much customers value buying nothing.")
    cost: float = Field(1.0, gt=0, title="Cost", description="c: cost per unit, before the currency factor.")
    mu: float = Field(0.25, gt=0, title="Differentiation", description="μ: the larger, the less prices matter.")
    market: float = Field(100.0, gt=0, title="Market size", description="β: number of customers.")
    rival: bool = Field(True, title="Rival", description="Whether there is a second firm.")
    advice: Annotated[float, Field(gt=0)] | None = Field(
        1.5,
        title="Advice",
        description="Prices above this multiple of the collusive price are not recommended. Empty: no advice.",
    )

    @model_validator(mode="after")
    def _practice_only_without_rival(self) -> DuopolyConfig:
        if self.practice and self.rival:
            raise PydanticCustomError("practice", "Practice period: only possible without a rival.")
        return self


class PriceMove(Move):
    """The price of this period."""

    price: float = Field(ge=0, le=HIGHEST_PRICE, title=gettext_noop("Your price"))


FORM = Form(
    "price", gettext_noop("Set your price"), PriceMove, help=gettext_noop("This closes the period."), tool="set_prices"
)


@dataclass(frozen=True, kw_only=True)
class History(Periods):
    """Every firm's price, period by period."""

    prices: tuple[Mapping[Role, float], ...] = ()


class DuopolyCore(WithPractice[DuopolyConfig, History]):
    """What scripts and views ask of the game, besides the rules of all environments."""

    @cached_property
    def market(self) -> Market:
        config = self.config
        return Market(config.alpha, config.quality, config.outside, config.cost, config.mu, config.market)

    @property
    def references(self) -> References:
        """The reference prices."""
        return references(self.market, self.config.rival)

    @property
    def shown_advice(self) -> float:
        """The highest recommended price, in cents; the highest reference price if the configuration has no advice."""
        factor = 1.0 if self.config.advice is None else self.config.advice
        return round(factor * self.references.highest, 2)

    def roles(self) -> tuple[Role, ...]:
        return FIRMS if self.config.rival else FIRMS[:1]

    def outcome(self, state: History, t: int) -> dict[Role, tuple[float, float, float]]:
        """Return (price, quantity, profit) of each firm in a period."""
        prices = [state.prices[t][role] for role in self.roles()]
        return {
            role: row
            for role, row in zip(
                self.roles(),
                zip(prices, self.market.quantities(prices), self.market.profits(prices), strict=True),
                strict=True,
            )
        }
