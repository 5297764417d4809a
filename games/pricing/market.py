"""The market of pricing: nested logit demand, drifting exchange rates, the exact optimum (EconEvals, section 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, exp, log, log1p, pi, sin
from random import Random
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from games.interface import PlainData
from games.numbers import geometric, log_sum
from games.words import quoted

LEVELS: Mapping[str, int] = {"basic": 1, "medium": 4, "hard": 10}
"""Products by level."""
P_GROUP = 0.2
BLOCK = 10
"""Number of periods for which the same advice holds."""
PROGRAM_OUTSIDE = log(2) / 4
"""The appeal of not buying that gives it the weight √2 at σ = ½, as in the authors' program; 1 in the paper."""
Pattern = Literal["linear", "periodic", "constant"]
Prices = Mapping[str, float]


class Drift(PlainData):
    """The drift of a product's rate α: start + slope·t + amplitude·sin(2πt/season)."""

    start: float = Field(gt=0, title="Start")
    slope: float = Field(0.0, title="Slope", description="Change per period.")
    amplitude: float = Field(0.0, title="Amplitude", description="Of the seasonal swing.")


class Product(PlainData):
    """One product; everything except its name and cost is hidden."""

    id: Annotated[str, Field(min_length=1, max_length=60)] = Field(title="Name")
    quality: float = Field(title="Quality", description="Higher sells more at the same price.")
    cost: float = Field(gt=0, title="Cost per unit")
    group: int = Field(default=1, ge=1, title="Group", description="Products of one group are close substitutes.")
    alpha: Drift = Field(title="Value of the currency", description="Prices are divided by it: start + slope × period.")


class Instance(PlainData):
    """A complete market."""

    products: Annotated[tuple[Product, ...], Field(min_length=1, max_length=50, strict=False)] = Field(title="Products")
    season: float = Field(default=10.0, gt=0, title="Season", description="Periods of one swing.")
    sigma: float = Field(
        default=0.5, ge=0, lt=1, title="Similarity σ", description="How alike a group's products are: 0 not at all."
    )
    market: float = Field(default=100.0, gt=0, title="Size of the market", description="Customers per period.")
    outside: float = Field(0.0, title="Appeal of not buying", description="On the scale of quality minus price.")
    advice: float = Field(
        default=2.0, gt=0, title="Highest advised price", description="As a multiple of the best price."
    )

    @model_validator(mode="after")
    def _check_names(self) -> Instance:
        names = [product.id for product in self.products]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise PydanticCustomError(
                "contradiction", "Two products are called {name}.", {"name": quoted(repeated, most=60)}
            )
        return self

    def require_positive_rates(self, periods: int) -> None:
        """Refuse a drift that makes a rate zero or negative in some period.

        Raises:
            PydanticCustomError: names the product and the period.
        """
        for product in self.products:
            for t in range(periods):
                if self.rate(product, t) <= 0:
                    raise PydanticCustomError(
                        "contradiction",
                        "The rate of {name} is not positive in period {period}.",
                        {"name": quoted(product.id, most=60), "period": t},
                    )

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(product.id for product in self.products)

    def rate(self, product: Product, t: int) -> float:
        """Return the product's α in period t (from 0)."""
        drift = product.alpha
        return drift.start + drift.slope * t + drift.amplitude * sin(2 * pi * t / self.season)

    def quantities(self, prices: Prices, t: int) -> dict[str, float]:
        """Return the quantity of each product: M·(u/D)·D^(1-σ) / (O + Σ D^(1-σ)), D the sum of u over its group."""
        normalised = {product.id: prices[product.id] / self.rate(product, t) for product in self.products}
        return self._quantities(normalised)

    def _quantities(self, normalised: Mapping[str, float]) -> dict[str, float]:
        """Return the quantities for prices divided by α; logarithms keep extreme prices finite."""
        inner = 1 - self.sigma
        logs = {product.id: (product.quality - normalised[product.id]) / inner for product in self.products}
        groups: dict[int, list[str]] = {}
        for product in self.products:
            groups.setdefault(product.group, []).append(product.id)
        sums = {group: log_sum([logs[name] for name in names]) for group, names in groups.items()}
        total = log_sum([self.outside / inner, *(inner * value for value in sums.values())])
        return {
            name: self.market * exp(logs[name] - sums[group] + inner * sums[group] - total)
            for group, names in groups.items()
            for name in names
        }

    def profits(self, prices: Prices, t: int) -> dict[str, float]:
        """Return the profit of each product: (p/α - c)·q."""
        sold = self.quantities(prices, t)
        return {
            product.id: (prices[product.id] / self.rate(product, t) - product.cost) * sold[product.id]
            for product in self.products
        }

    @property
    def markup(self) -> float:
        """The optimal normalised markup, the same for all products: m = 1 + W(T₀ / (O·e)), T₀ = Σ D^(1-σ) at cost."""
        inner = 1 - self.sigma
        at_cost: dict[int, list[float]] = {}
        for product in self.products:
            at_cost.setdefault(product.group, []).append((product.quality - product.cost) / inner)
        log_t0 = log_sum([inner * log_sum(values) for values in at_cost.values()])
        return 1 + _lambert(log_t0 - self.outside / inner - 1)

    @property
    def best_profit(self) -> float:
        """The optimal profit of any period: M(m - 1)."""
        return self.market * (self.markup - 1)

    def best_prices(self, t: int) -> dict[str, float]:
        """Return the optimal price of each product: α(c + m)."""
        return {product.id: self.rate(product, t) * (product.cost + self.markup) for product in self.products}

    def advised_price(self, t: int) -> float:
        """Return the highest recommended price in period t's block of ten, in cents."""
        first = t - t % BLOCK
        highest = max(price for period in range(first, first + BLOCK) for price in self.best_prices(period).values())
        return round(self.advice * highest, 2)


def _lambert(log_x: float) -> float:
    """Return Lambert's W(x) for x = exp(log_x) > 0, by Newton's method on w + ln w = ln x."""
    w = log1p(exp(log_x)) if log_x < 1 else max(log_x - log(max(log_x, 1.0)), 0.5)
    for _step in range(100):
        change = w * (log_x - w - log(w)) / (1 + w)
        w += change
        if abs(change) <= 1e-15 * w:
            break
    return w


# ---- drawing -----------------------------------------------------------------------------------


def numbered(level: str) -> list[str]:
    """Return the names of a level's products: Product_1, Product_2, …"""
    return [f"Product_{number}" for number in range(1, LEVELS[level] + 1)]


def draw_public(names: Sequence[str], cost_high: float, rng: Random) -> dict[str, float]:
    """Draw the cost of every product, which the role may see."""
    return {name: rng.uniform(1, cost_high) for name in names}


def draw_hidden(level: str, pattern: Pattern, periods: int, rng: Random) -> dict[str, Any]:
    """Draw qualities, groups, drifts, season and advice."""
    product_count = LEVELS[level]
    season = rng.randint(10, 20)
    products = []
    groups = _draw_groups(product_count, rng)
    for group in groups:
        start = rng.uniform(1, 10)
        alpha: dict[str, float] = {"start": start}
        if pattern == "linear":
            alpha["slope"] = rng.uniform(-start / (2 * periods), start / (2 * periods))
        if pattern == "periodic":
            alpha["amplitude"] = rng.uniform(start / 4, start / 2)
        products.append({"quality": rng.uniform(2, 3), "group": group, "alpha": alpha})
    return {"products": products, "season": season, "advice": rng.uniform(1.5, 2.5)}


def _draw_groups(product_count: int, rng: Random) -> list[int]:
    """Draw geometric groups, at most a quarter of the number of products, until every group occurs."""
    highest = ceil(product_count / 4)
    while True:
        groups: list[int] = []
        while len(groups) < product_count:
            group = geometric(P_GROUP, rng)
            if group <= highest:
                groups.append(group)
        if len(set(groups)) == highest:
            return groups
