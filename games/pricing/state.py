"""The parameters of pricing, its move, and the sales so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from games.interface import Form, Move, TwoSources
from games.periods import InstanceConfig, Periods, Submitted
from games.pricing.market import Instance, Pattern, Prices
from games.words import gettext_noop

HIGHEST_PRICE = 1_000_000


class PricingConfig(InstanceConfig, TwoSources):
    """One treatment. Defaults: the paper's basic level."""

    level: Literal["basic", "medium", "hard"] = Field("basic", title="Level", description="Number of products.")
    pattern: Pattern | None = Field(
        None, title="Currency drift", description="Empty: linear for even instance seeds, periodic for odd ones."
    )
    cost_high: float = Field(
        2, ge=1, le=10, title="Highest cost", description="Costs are drawn between 1 and this value."
    )
    scored_periods: Annotated[int, Field(ge=1, le=300)] | None = Field(
        None, title="Periods that count", description="Counted from the end. Empty: the last half."
    )
    instance: Instance | None = Field(
        None,
        title="Instance",
        description="The whole market. Empty: drawn at random.",
        examples=[{"products": [{"id": "Product 1", "quality": 2, "cost": 1, "alpha": {"start": 1}}]}],
    )

    @model_validator(mode="after")
    def _check_market(self) -> PricingConfig:
        if self.scored_periods is not None and self.scored_periods > self.periods:
            raise PydanticCustomError("scored", "Periods that count: must not exceed the number of periods.")
        if self.instance is not None:
            self.instance.require_positive_rates(self.periods)
        return self

    def scored(self, periods_played: int) -> range:
        """Return the periods that count, which are the last ones, as far as they were played."""
        counted = self.scored_periods
        count = max(1, self.periods // 2) if counted is None else counted
        return range(self.periods - count, periods_played)


class PricesMove(Move):
    """The prices of this period."""

    prices: Annotated[
        Submitted,
        WithJsonSchema(
            {"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": HIGHEST_PRICE}}
        ),
    ] = Field(title=gettext_noop("Your prices"), description=gettext_noop("A price for every product."))


FORM = Form(
    "prices",
    gettext_noop("Set your prices"),
    PricesMove,
    help=gettext_noop("Set a price for every product. This closes the period."),
    tool="set_prices",
)


@dataclass(frozen=True)
class Sale:
    """The prices, sales and profits of one period, by product."""

    prices: Prices
    sold: Mapping[str, float]
    profits: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Sales(Periods):
    """The market and the sales so far."""

    instance: Instance
    sales: tuple[Sale, ...] = ()

    def profit(self, t: int) -> float:
        """Return the profit of a period, over all products."""
        return sum(self.sales[t].profits.values())
