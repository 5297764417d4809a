"""Scripts for procurement. Only `optimum` knows what is hidden."""

from __future__ import annotations

from math import floor
from random import Random

from games.interface import MoveData, Role
from games.practice import Benchmark, also_in_practice
from games.procurement.instances import Instance, Offer
from games.procurement.state import ProcurementConfig, Purchases

Procurement = Benchmark[ProcurementConfig, Purchases]

MAX_FAILURES = 10
"""A random plan is complete after this many unaffordable offers in a row."""


def optimum(game: Procurement, state: Purchases, role: Role, rng: Random) -> MoveData:
    """Buy the best possible plan."""
    return {"plan": dict(state.best_plan)}


def random(game: Procurement, state: Purchases, role: Role, rng: Random) -> MoveData:
    """Add random offers until ten in a row are not affordable."""
    instance, plan, failed = state.instance, dict[str, int](), 0
    while failed < MAX_FAILURES:
        offer = rng.choice(instance.offers)
        larger_plan = {**plan, offer.id: max(plan.get(offer.id, 0) + 1, offer.minimum or 0)}
        if instance.cost(larger_plan) <= instance.budget:
            plan, failed = larger_plan, 0
        else:
            failed += 1
    return {"plan": plan}


def greedy(game: Procurement, state: Purchases, role: Role, rng: Random) -> MoveData:
    """Start with each category's cheapest offer; then change one offer of the best plan so far."""
    best = state.best()
    if best is None:
        return {"plan": _cheapest_plan(state.instance)}
    plan = dict(best.plan)
    offer = rng.choice(state.instance.offers)
    plan[offer.id] = rng.choice((0, max(plan.get(offer.id, 0) + 1, offer.minimum or 0)))
    other_offers = [name for name in plan if name != offer.id and plan[name]]
    rng.shuffle(other_offers)
    while state.instance.cost(plan) > state.instance.budget and other_offers:
        name = other_offers[-1]
        reduced = plan[name] - 1
        plan[name] = reduced if reduced >= (state.instance.by_id[name].minimum or 0) else 0
        if not plan[name]:
            other_offers.pop()
    return {"plan": {name: quantity for name, quantity in plan.items() if quantity}}


def _cheapest_plan(instance: Instance) -> dict[str, int]:
    """Return a plan that spends an equal share of the budget on each category's cheapest offer per unit."""
    share = instance.budget / len(instance.categories)
    plan: dict[str, int] = {}
    for category in instance.categories:
        useful_offers = [offer for offer in instance.offers if _category_units(offer, category)]
        if not useful_offers:
            continue
        offer = min(useful_offers, key=lambda offer: (offer.price / _category_units(offer, category), offer.id))
        quantity = max(0, floor((share - (offer.upfront or 0.0)) / offer.price))
        if quantity >= max(offer.minimum or 0, 1):
            plan[offer.id] = max(plan.get(offer.id, 0), quantity)
    return plan


def _category_units(offer: Offer, category: tuple[str, ...]) -> int:
    return sum(number for name, number in offer.contents.items() if name in category)


SCRIPTS = also_in_practice(optimum, random, greedy)
