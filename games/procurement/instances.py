"""Instances of procurement: offers, budget and hidden effectiveness, specified or drawn (EconEvals, section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from random import Random
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from games.interface import PlainData
from games.numbers import cents, geometric
from games.words import quoted

BUDGET_TOLERANCE = 1e-9
"""Rounding tolerance for a plan's cost over the budget."""

LEVELS: Mapping[str, tuple[int, int, float, float, int]] = {
    "basic": (12, 3, 0.8, 0.5, 3),
    "medium": (30, 5, 0.5, 0.2, 5),
    "hard": (100, 10, 0.1, 0.1, 20),
    "small": (6, 2, 0.8, 0.5, 3),
}
"""Per level: products (as many as offers), categories, p1 and p2 of the geometric draws, the largest effectiveness."""
HIGHEST_PRICE = 20.0
Plan = Mapping[str, int]
"""Quantity by offer; offers not listed are not bought."""
Name = Annotated[str, Field(min_length=1, max_length=60)]
# Snapshots store tuples as lists.
Category = Annotated[tuple[Name, ...], Field(min_length=1, strict=False)]
Quantity = Annotated[int, Field(ge=1, le=1_000_000)]


class Offer(PlainData):
    """What one unit of an offer contains and costs."""

    id: Name = Field(title="Name")
    contents: Annotated[dict[Name, Quantity], Field(min_length=1)] = Field(
        title="Contents", description="Units of each product in one unit of the offer."
    )
    price: float = Field(gt=0, le=1e6, title="Price per unit")
    minimum: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        None, title="Fewest units", description="If any are bought."
    )
    upfront: Annotated[float, Field(ge=0, le=1e6)] | None = Field(
        None, title="Fixed amount", description="Paid once if any unit is bought."
    )

    def as_published(self) -> str:
        """Return the offer in one line, as the authors' program shows it."""
        contents = " and ".join(
            f"{count} unit{'s' if count != 1 else ''} of {name}" for name, count in self.contents.items()
        )
        minimum = f"; minimum order quantity: {self.minimum}" if self.minimum else ""
        upfront = f"; additional upfront cost: ${self.upfront:.2f}" if self.upfront else ""
        return f"{self.id}: ${self.price:.2f} for {contents}{minimum}{upfront}"

    def cost(self, quantity: int) -> float:
        """Return the cost of this many units."""
        return quantity * self.price + (self.upfront or 0.0) if quantity else 0.0


class Instance(PlainData):
    """A complete instance; effectiveness is hidden from players."""

    categories: Annotated[tuple[Category, ...], Field(min_length=1, strict=False)] = Field(
        title="Categories", description="Each row names the products that can replace each other."
    )
    effectiveness: dict[Name, Annotated[int, Field(ge=1, le=1_000_000)]] = Field(
        title="Effectiveness", description="Of one unit of every product. Players do not see it."
    )
    offers: Annotated[tuple[Offer, ...], Field(min_length=1, max_length=200, strict=False)] = Field(title="Offers")
    budget: float = Field(ge=0, le=1e9, title="Budget per period")

    @model_validator(mode="after")
    def _check_consistency(self) -> Instance:
        products = [name for category in self.categories for name in category]
        if repeated := next((name for name in products if products.count(name) > 1), None):
            _raise_contradiction("The product {name} is in two categories.", repeated)
        for name in products:
            if name not in self.effectiveness:
                _raise_contradiction("The effectiveness of {name} is missing.", name)
        for name in self.effectiveness:
            if name not in products:
                _raise_contradiction("Effectiveness lists {name}, which is in no category.", name)
        ids = [offer.id for offer in self.offers]
        if repeated := next((name for name in ids if ids.count(name) > 1), None):
            _raise_contradiction("Two offers are called {name}.", repeated)
        for offer in self.offers:
            if unknown := next((name for name in offer.contents if name not in products), None):
                _raise_contradiction("An offer contains {name}, which is in no category.", unknown)
        return self

    @cached_property
    def by_id(self) -> Mapping[str, Offer]:
        return {offer.id: offer for offer in self.offers}

    def cost(self, plan: Plan) -> float:
        """Return the cost of a plan."""
        return sum((self.by_id[name].cost(quantity) for name, quantity in plan.items()), start=0.0)

    def units(self, plan: Plan) -> dict[str, int]:
        """Return the units of each product in a plan."""
        units = dict.fromkeys(self.effectiveness, 0)
        for name, quantity in plan.items():
            for product, number in self.by_id[name].contents.items():
                units[product] += number * quantity
        return units

    def workers(self, plan: Plan) -> float:
        """Return the workers supported: the geometric mean over categories of effective units (section 3.1)."""
        units = self.units(plan)
        sums = [sum(self.effectiveness[name] * units[name] for name in category) for category in self.categories]
        return float(prod(value ** (1 / len(sums)) for value in sums))


def _raise_contradiction(message: str, name: str) -> None:
    raise PydanticCustomError("contradiction", message, {"name": quoted(name, most=60)})


CATEGORIES, PRACTICE_CATEGORIES = "ABCDEFGHIJ", "ZYXWVUTSRQ"
"""The letters of categories, and of those in practice."""


def _categories(level: str, letters: str) -> list[list[str]]:
    """Return a level's products by category: A1, A2, …"""
    product_count, category_count, *_rest = LEVELS[level]
    numbers = range(1, product_count // category_count + 1)
    return [[f"{letter}{number}" for number in numbers] for letter in letters[:category_count]]


def draw_public(
    level: str,
    rng: Random,
    *,
    source: str = "paper",
    names: Sequence[str] | None = None,
    letters: str = CATEGORIES,
) -> dict[str, Any]:
    """Draw a level's categories, offers and budget, which the role may see; see `_draw_budget` for the source.

    Args:
        names: of the offers; Offer_1, Offer_2, … by default.
        letters: of the categories.
    """
    product_count, _category_count, p1, p2, _highest = LEVELS[level]
    names = [f"Offer_{number}" for number in range(1, product_count + 1)] if names is None else names
    categories = _categories(level, letters)
    products = [name for category in categories for name in category]
    first_products = rng.sample(products, product_count)
    offers = [
        _draw_offer(name, first_product, products, p1, p2, rng)
        for name, first_product in zip(names, first_products, strict=True)
    ]
    parsed_offers = [Offer.model_validate(offer) for offer in offers]
    return {
        "categories": categories,
        "offers": offers,
        "budget": _draw_budget(categories, parsed_offers, p2, rng, source),
    }


def _draw_offer(
    name: str, first_product: str, products: list[str], p1: float, p2: float, rng: Random
) -> dict[str, Any]:
    other_products = [name for name in products if name != first_product]
    product_count = min(geometric(p1, rng), len(products))
    contents = {name: geometric(p2, rng) for name in [first_product, *rng.sample(other_products, product_count - 1)]}
    offer: dict[str, Any] = {"id": name, "contents": contents}
    kind = rng.choice(("simple", "bulk only", "two-part"))
    offer["price"] = cents(rng.uniform(1, HIGHEST_PRICE))
    if kind == "bulk only":
        offer["minimum"] = rng.randint(2, 10)
    if kind == "two-part":
        offer["upfront"] = cents(rng.uniform(1, HIGHEST_PRICE))
    return offer


def _draw_budget(categories: list[list[str]], offers: list[Offer], p2: float, rng: Random, source: str) -> float:
    """Draw the budget: the cost of a random purchase from every category, plus up to one dollar.

    Of an offer with a minimum, the purchase contains at least the minimum; in the authors' program, a drawn number more
    than the minimum less one.
    """
    bought: dict[str, int] = {}
    for category in categories:
        product = rng.choice(category)
        offer = rng.choice([offer for offer in offers if product in offer.contents])
        drawn, minimum = geometric(p2, rng), offer.minimum or 1
        bought[offer.id] = max(drawn, minimum) if source == "paper" else drawn + minimum - 1
    by_id = {offer.id: offer for offer in offers}
    return cents(sum(by_id[name].cost(quantity) for name, quantity in bought.items()) + rng.random())


def draw_hidden(level: str, rng: Random, *, letters: str = CATEGORIES) -> dict[str, int]:
    """Draw the effectiveness of every product of a level."""
    highest = LEVELS[level][-1]
    return {name: rng.randint(1, highest) for category in _categories(level, letters) for name in category}
