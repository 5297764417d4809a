"""What a buyer may know, as blocks: offers, budget, own purchases and notes, but never effectiveness."""

from __future__ import annotations

from collections.abc import Sequence

from games.interface import Attempt, Bar, Bars, Block, Cell, Chart, Fact, Facts, Role, Series, Table, Text
from games.periods import Screen, as_number, shown, two_decimals, with_best
from games.practice import Benchmark
from games.procurement.instances import BUDGET_TOLERANCE, Instance, Offer, Plan
from games.procurement.state import ProcurementConfig, Purchase, Purchases
from games.words import gettext as _
from games.words import percent

Procurement = Benchmark[ProcurementConfig, Purchases]


def problem(game: Procurement, instance: Instance, plan: Plan) -> str:
    """Return why a plan is not feasible, and by how much; empty if it is feasible."""
    for name, quantity in plan.items():
        least = instance.by_id[name].minimum or 0
        if quantity < least:
            return _("{offer} needs at least {least} units; the plan has {quantity}.").format(
                offer=name, least=least, quantity=quantity
            )
    cost = instance.cost(plan)
    if cost <= instance.budget + BUDGET_TOLERANCE:
        return ""
    return _("The plan costs {cost}, {over} more than the budget of {budget}.").format(
        cost=game.money(cost), over=game.money(cost - instance.budget), budget=game.money(instance.budget)
    )


def _data(game: Procurement, state: Purchases, role: Role) -> tuple[Block, ...]:
    return _situation(game, state), _offers(game, state), _history(game, state), _chart(game, state)


def _outcome(game: Procurement, state: Purchases, role: Role) -> tuple[Block, ...]:
    """Return the outcome of the last purchase."""
    purchase = state.purchases[-1]
    if purchase.workers is None:
        reason = problem(game, state.instance, purchase.plan)
        return (Text("outcome", _("Your last plan failed. {problem}").format(problem=reason), tone="notice"),)
    template = _("Your last plan supports {workers} workers and costs {cost}.")
    return (
        Text("outcome", template.format(workers=_shown_workers(purchase), cost=game.money(purchase.cost)), tone="good"),
    )


def _shown_workers(purchase: Purchase) -> str:
    return shown(purchase.workers or 0.0)


def _situation(game: Procurement, state: Purchases) -> Facts:
    """Return the period, the budget, and the best plan so far."""
    best = state.best()
    facts = [
        game.period_fact(state),
        Fact("budget", _("Budget in every period"), state.instance.budget, game.money(state.instance.budget)),
        Fact(
            "best",
            _("Most workers so far"),
            None if best is None else two_decimals(best.workers or 0.0),
            _("none yet") if best is None else _shown_workers(best),
        ),
        Fact("categories", _("Categories"), len(state.instance.categories), _categories(state)),
    ]
    return Facts("situation", _("Where you stand"), tuple(facts))


def _categories(state: Purchases) -> str:
    """Return the products by category."""
    return "; ".join(", ".join(category) for category in state.instance.categories)


def _offers(game: Procurement, state: Purchases) -> Table:
    """Return all offers."""
    columns = (_("Offer"), _("Unit contains"), _("Price"), _("Type"), _("Minimum"), _("Upfront"))
    return Table(
        "offers", _("Offers"), columns, tuple(_offer(game, offer) for offer in state.instance.offers), sortable=True
    )


def _offer(game: Procurement, offer: Offer) -> tuple[Cell, ...]:
    contents = ", ".join(f"{number} × {name}" for name, number in offer.contents.items())
    if offer.minimum:
        kind = _("bulk only")
    elif offer.upfront:
        kind = _("two-part")
    else:
        kind = _("simple")
    upfront = game.money(offer.upfront) if offer.upfront else ""
    return offer.id, contents, game.money(offer.price), kind, offer.minimum or "", upfront


def _history(game: Procurement, state: Purchases) -> Table:
    """Return every earlier plan with its outcome."""
    rows = tuple(
        (
            period,
            ", ".join(f"{quantity} × {name}" for name, quantity in purchase.plan.items()) or _("nothing"),
            game.money(purchase.cost),
            problem(game, state.instance, purchase.plan) if purchase.workers is None else _shown_workers(purchase),
        )
        for period, purchase in enumerate(state.purchases, start=game.first_period)
    )
    columns = (_("Period"), _("Plan"), _("Cost"), _("Workers supported"))
    return Table("history", _("Your plans so far"), columns, rows, sortable=True, newest_first=True)


def _chart(game: Procurement, state: Purchases) -> Chart:
    """Return the chart of workers supported, period by period."""
    points = tuple(
        (float(period), two_decimals(purchase.workers))
        for period, purchase in enumerate(state.purchases, start=game.first_period)
        if purchase.workers is not None
    )
    lines = (Series(_("your plans"), points),) if points else ()
    return Chart("workers", _("Workers supported by your plans"), _("Period"), _("Workers"), lines)


def _attempts(history: Table) -> Sequence[Attempt]:
    """Return the earlier plans; those that fail say why where the others say how many workers they support."""
    attempts = [
        Attempt(str(period), str(plan), ((history.columns[3], str(workers)), (history.columns[2], str(cost))))
        for period, plan, cost, workers in history.rows
    ]
    scores = [as_number(str(workers)) or None for _period, _plan, _cost, workers in history.rows]
    return with_best(attempts, scores, _("most workers so far"))


def _result(game: Procurement, state: Purchases, role: Role) -> tuple[Block, ...]:
    """Return how the game ended: the best plan, and the optimum, which is no longer secret."""
    best = state.best()
    share = 0.0 if best is None or not state.optimum else (best.workers or 0.0) / state.optimum
    facts = (
        Fact("best_plan", _("Your best plan supports"), share, _shown_workers(best) if best else "0"),
        Fact("possible", _("The best possible plan supports"), state.optimum, shown(state.optimum)),
        Fact("share", _("Your score"), share, percent(round(share, 3))),
    )
    return (Facts("result", _("The result"), facts),)


def _bars(game: Procurement, state: Purchases, role: Role) -> Bars:
    """Return the workers that the best plan supports beside the most possible."""
    best = state.best()
    return Bars(
        _("Workers your best plan supports, and the most possible"),
        (
            Bar(_("You"), _shown_workers(best) if best else "0", (best.workers if best else None) or 0.0, role=role),
            Bar(_("Most possible"), shown(state.optimum), state.optimum, tone="rest"),
        ),
    )


SCREEN = Screen(_outcome, _result, _data, _bars, attempts=_attempts)
