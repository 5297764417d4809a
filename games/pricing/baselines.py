"""Scripts for pricing. Only `optimum` knows demand."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from games.interface import MoveData, Role
from games.practice import Benchmark, also_in_practice
from games.pricing.state import PricingConfig, Sales

Pricing = Benchmark[PricingConfig, Sales]

STEP = 0.1
"""The first step of `climb`, as a share of the price."""


def optimum(game: Pricing, state: Sales, role: Role, rng: Random) -> MoveData:
    """Set the prices that maximise profit."""
    return {"prices": state.instance.best_prices(game.period(state))}


def random(game: Pricing, state: Sales, role: Role, rng: Random) -> MoveData:
    """Set random prices up to the advice."""
    highest = state.instance.advised_price(game.period(state))
    return {"prices": {name: rng.uniform(0, highest) for name in state.instance.names}}


def climb(game: Pricing, state: Sales, role: Role, rng: Random) -> MoveData:
    """Start at half the advice and raise all prices by a tenth; when profit falls, reverse and halve the step."""
    if not state.sales:
        return game.default(state, role)
    profits = [sum(sale.profits.values()) for sale in state.sales]
    step = STEP
    for previous, current in pairwise(profits):
        if current < previous:
            step = -step / 2
    last = state.sales[-1].prices
    return {"prices": {name: price * (1 + step) for name, price in last.items()}}


SCRIPTS = also_in_practice(optimum, random, climb)
