"""What a seller may know, as blocks: costs, own prices, sales and profits, the advice, and notes."""

from __future__ import annotations

from collections.abc import Sequence

from games.interface import Attempt, Bar, Bars, Block, Chart, Fact, Facts, Role, Series, Table, Text
from games.periods import Screen, as_number, shown, two_decimals, with_best
from games.practice import Benchmark
from games.pricing.state import PricingConfig, Sales
from games.words import gettext as _
from games.words import percent

Pricing = Benchmark[PricingConfig, Sales]


def _data(game: Pricing, state: Sales, role: Role) -> tuple[Block, ...]:
    return _products(state), *_charts(game, state), _history(game, state)


def _not_in_tools(game: Pricing, state: Sales, role: Role) -> tuple[Block, ...]:
    """Return what no tool shows: the period and the advice."""
    return (_situation(game, state),)


def _news(game: Pricing, state: Sales, role: Role) -> tuple[Block, ...]:
    """Return the advice, which changes over time."""
    return () if game.over(state) else (_situation(game, state),)


def _outcome(game: Pricing, state: Sales, role: Role) -> tuple[Block, ...]:
    """Return the profit of the last period."""
    template = _("Your last prices made a profit of {profit}.")
    return (Text("outcome", template.format(profit=shown(sum(state.sales[-1].profits.values())))),)


def _situation(game: Pricing, state: Sales) -> Facts:
    """Return the period and the advice."""
    facts = [game.period_fact(state)]
    if not game.over(state):
        advised = state.instance.advised_price(game.period(state))
        facts.append(Fact("advised", _("Highest recommended price"), advised, shown(advised)))
    return Facts("situation", _("Where you stand"), tuple(facts))


def _products(state: Sales) -> Table:
    """Return the products and their costs."""
    rows = tuple((product.id, shown(product.cost)) for product in state.instance.products)
    return Table("products", _("Your products"), (_("Product"), _("Cost per unit")), rows, sortable=True)


def _charts(game: Pricing, state: Sales) -> list[Block]:
    """Return the charts of prices and profit."""
    prices = tuple(
        Series(
            name,
            tuple(
                (float(t), two_decimals(sale.prices[name]))
                for t, sale in enumerate(state.sales, start=game.first_period)
            ),
        )
        for name in state.instance.names
        if state.sales
    )
    points = tuple(
        (float(t), two_decimals(sum(sale.profits.values())))
        for t, sale in enumerate(state.sales, start=game.first_period)
    )
    profit = (Series(_("total"), points),) if points else ()
    return [
        Chart("prices", _("Your prices"), _("Period"), _("Price"), prices, cuts_outliers=True),
        Chart("profit", _("Your profit"), _("Period"), _("Profit"), profit),
    ]


def _history(game: Pricing, state: Sales) -> Table:
    """Return every earlier period, product by product."""
    rows = tuple(
        (
            t,
            product.id,
            shown(sale.prices[product.id]),
            shown(sale.sold[product.id]),
            shown(sale.profits[product.id]),
            shown(product.cost),
        )
        for t, sale in enumerate(state.sales, start=game.first_period)
        for product in state.instance.products
    )
    columns = (_("Period"), _("Product"), _("Price"), _("Sold"), _("Profit"), _("Cost per unit"))
    return Table("history", _("Your sales so far"), columns, rows, sortable=True, newest_first=True, folds=True)


def _attempts(history: Table) -> Sequence[Attempt]:
    """Return the earlier prices with the profit of all products, and with the units sold if there is one product."""
    periods: dict[str, list[Sequence[str]]] = {}
    for period, *cells in history.rows:
        periods.setdefault(str(period), []).append([str(cell) for cell in cells])
    attempts, profits = [], []
    for period, rows in periods.items():
        profits.append(sum(as_number(profit) or 0 for _product, _price, _sold, profit, _cost in rows))
        sold = [(history.columns[3], rows[0][2])] if len(rows) == 1 else []
        entries = ", ".join(f"{product}: {price}" for product, price, *_outcome in rows)
        attempts.append(Attempt(period, entries, (*sold, (history.columns[4], shown(profits[-1])))))
    return with_best(attempts, profits, _("highest profit so far"))


def _result(game: Pricing, state: Sales, role: Role) -> tuple[Block, ...]:
    """Return how the game ended."""
    scored = game.config.scored(len(state.sales))
    earned = sum(state.profit(t) for t in scored)
    best = len(scored) * state.instance.best_profit
    facts = (
        Fact("counted", _("Your profit in the periods that count"), earned, shown(earned)),
        Fact("possible", _("Best possible profit in these periods"), best, shown(best)),
        Fact("share", _("Your score"), earned / best, percent(round(earned / best, 3))),
    )
    return (Facts("result", _("The result"), facts),)


def _bars(game: Pricing, state: Sales, role: Role) -> Bars:
    """Return the profit beside the best possible one."""
    scored = game.config.scored(len(state.sales))
    earned, best = sum(state.profit(t) for t in scored), len(scored) * state.instance.best_profit
    return Bars(
        _("Your profit, and the best possible"),
        (
            Bar(_("You"), shown(earned), earned, role=role),
            Bar(_("Best possible"), shown(best), best, tone="rest"),
        ),
    )


def _published(game: Pricing, state: Sales, role: Role) -> tuple[Block, ...]:
    """Return the advice."""
    if game.over(state):
        return ()
    words = _("Prices above {price} are not recommended.")
    return (Text("advised", words.format(price=f"{state.instance.advised_price(game.period(state)):.2f}")),)


SCREEN = Screen(_outcome, _result, _data, _bars, _news, _not_in_tools, _published, _attempts)
