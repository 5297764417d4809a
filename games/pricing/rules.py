"""Pricing: set prices period after period without knowing demand or the exchange rate, which drifts.

Source: EconEvals, section 3.3. Demand is nested logit; each product is priced in its own currency, whose
exchange rate drifts; costs and profits are in a fixed one. The score is the profit of the last periods as a share of
the best possible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from random import Random
from statistics import fmean
from typing import Annotated, Any

from games.interface import Chance, Form, Json, MoveData, Prospect, Role, Tool, Usual
from games.periods import AGENT, NoteMove, Quantity, form_for_instance, instance_of, lookup, plain, refuse_names
from games.practice import BeginMove, Benchmark, practice_names
from games.pricing import baselines, quiz, views
from games.pricing.market import LEVELS, PROGRAM_OUTSIDE, Instance, Pattern, draw_hidden, draw_public, numbered
from games.pricing.state import FORM, HIGHEST_PRICE, PricesMove, PricingConfig, Sale, Sales
from games.results import Count, Ratio, RoundRecord, Row, column, in_unit
from games.words import gettext as _
from games.words import gettext_noop, quoted

Price = Annotated[float, in_unit("the product's own currency", 0)]
Profit = Annotated[float, in_unit("the fixed currency")]


class Pricing(Benchmark[PricingConfig, Sales]):
    """A seller searches for the best prices in a changing market."""

    title = gettext_noop("Pricing")
    summary = gettext_noop("A seller sets prices period after period in an unknown and changing market.")
    scripts = baselines.SCRIPTS
    default_script = "climb"
    starting_config = {"periods": 20, "practice": True}
    oracles = frozenset({"optimum"})
    reserved_words = "price product profit cost quantity period note sold market"
    screen = views.SCREEN
    questions = quiz.QUESTIONS
    asks = gettext_noop("Period {period}: set your prices.")
    move_types = (PricesMove, NoteMove, BeginMove)

    class Results(Row):
        score: Ratio = column(
            "Profit / best possible profit, in the periods that count.", source="EconEvals, section 3.3"
        )
        profit_scored: Profit = column("Profit in the periods that count.")
        optimal_profit: Profit = column("Best possible profit in one period.")
        profit_total: Profit = column("Profit in all periods.")
        price_ratio: Ratio = column("Mean of price/optimal price in the periods that count.")
        periods_played: Count = column("Periods played.")

    class Record(RoundRecord):
        product: str = column("The product's name.")
        price: Price = column("Its price.")
        quantity: Quantity = column("Quantity sold.")
        profit: Profit = column("Profit.")
        optimal_price: Price = column("The profit-maximising price.")
        optimal_profit: Profit = column("Best possible profit in the period, over all products.")
        counts: bool = column("Whether the period counts for the score.")

    # ---- playing -----------------------------------------------------------------------------------

    def begin(self, chance: Chance) -> Sales:
        config = self.config
        if config.instance is not None:
            return Sales(instance=config.instance)
        level, seed, kind = config.level, config.instance_seed, (self.key, config.level)

        names = practice_names(LEVELS[level])[0] if self.is_practice else numbered(level)

        def public(rng: Random) -> dict[str, float]:
            return draw_public(names, config.cost_high, config.rng_for(rng, *kind))

        def hidden(rng: Random) -> dict[str, Any]:
            instance_rng = config.rng_for(rng, *kind, part="hidden")
            number = instance_rng.getrandbits(1) if seed is None else seed
            pattern: Pattern = "periodic" if number % 2 else "linear"
            return draw_hidden(
                level, pattern if config.pattern is None else config.pattern, config.periods, instance_rng
            )

        costs: Mapping[str, float] = chance.draw("costs", public)
        hidden_market: dict[str, Any] = chance.draw("market", hidden, known_to=())
        products = [
            {"id": name, "cost": cost, **demand}
            for (name, cost), demand in zip(costs.items(), hidden_market.pop("products"), strict=True)
        ]
        outside = PROGRAM_OUTSIDE if config.source == "program" else 0.0
        return Sales(instance=instance_of(Instance, {"products": products, "outside": outside, **hidden_market}))

    def practice_config(self) -> Mapping[str, Json]:
        return {**super().practice_config(), "scored_periods": None}

    def period(self, state: Sales) -> int:
        return len(state.sales)

    def submission(self, state: Sales, role: Role) -> Form:
        return form_for_instance(FORM, state.instance.names, last=plain(self.last_submission(state, role)))

    def refuse_submission(self, state: Sales, role: Role, move: Any) -> str | None:
        if problem := refuse_names(move.prices, state.instance.names, _("product")):
            return problem
        for name, price in move.prices.items():
            if not is_price(price):
                return _("The price of {product} must be a number from 0 to {most}.").format(
                    product=quoted(name), most=f"{HIGHEST_PRICE:,}"
                )
        return None

    def usual_numbers(self, state: Sales, role: Role) -> Mapping[str, Usual]:
        """Return the last prices; before there are any, the highest recommended one."""
        if not state.sales:
            advised = Usual(state.instance.advised_price(0), _("the highest recommended price"), only_above=True)
            return {f"prices:{name}": advised for name in state.instance.names}
        return {
            f"prices:{name}": Usual(price, _("your last price of {product}").format(product=name.replace("_", " ")))
            for name, price in state.sales[-1].prices.items()
        }

    def submitted(self, state: Sales, moves: Mapping[Role, Any], chance: Chance) -> Sales:
        prices = {name: float(moves[AGENT].prices[name]) for name in state.instance.names}
        t = self.period(state)
        sale = Sale(prices, state.instance.quantities(prices, t), state.instance.profits(prices, t))
        return replace(state, sales=(*state.sales, sale))

    def last_submission(self, state: Sales, role: Role) -> MoveData | None:
        return {"prices": dict(state.sales[-1].prices)} if state.sales else None

    def first_submission(self, state: Sales, role: Role) -> MoveData:
        """Return half the advised price for every product."""
        return {"prices": dict.fromkeys(state.instance.names, min(state.instance.advised_price(0) / 2, HIGHEST_PRICE))}

    # ---- the result --------------------------------------------------------------------------------

    def score(self, state: Sales) -> float:
        """Return the profit in the periods that count, as a share of the best possible."""
        scored = self.config.scored(len(state.sales))
        return sum(state.profit(t) for t in scored) / (len(scored) * state.instance.best_profit)

    def so_far(self, state: Sales, role: Role) -> Prospect:
        words = _("It depends on your profit in the later periods, compared with the best possible profit.")
        return Prospect("", unknown=words)

    def metrics(self, state: Sales) -> Results:
        scored = self.config.scored(len(state.sales))
        ratios = [
            price / state.instance.best_prices(t)[name] for t in scored for name, price in state.sales[t].prices.items()
        ]
        return self.Results(
            score=self.score(state),
            profit_scored=sum(state.profit(t) for t in scored),
            optimal_profit=state.instance.best_profit,
            profit_total=sum(state.profit(t) for t in range(len(state.sales))),
            price_ratio=fmean(ratios),
            periods_played=len(state.sales),
        )

    def records(self, state: Sales) -> Sequence[Record]:
        """Return one row per period and product."""
        scored = self.config.scored(len(state.sales))
        return [
            self.Record(
                round=t + 1,
                role=AGENT,
                product=name,
                price=price,
                quantity=sale.sold[name],
                profit=sale.profits[name],
                optimal_price=best[name],
                optimal_profit=state.instance.best_profit,
                counts=t in scored,
            )
            for t, sale in enumerate(state.sales)
            for best in [state.instance.best_prices(t)]
            for name, price in sale.prices.items()
        ]

    # ---- texts and views ---------------------------------------------------------------------------

    def secrets(self, role: Role) -> frozenset[str]:
        """Hide the number of periods and how many of them count."""
        return super().secrets(role) | {"scored_periods"}

    def text_variables(self, role: Role) -> dict[str, Any]:
        return {}

    def lookups(self, state: Sales, role: Role) -> Sequence[Tool]:
        data = _("Every earlier period: each product's price, quantity sold, and profit.")
        about, products = _("The names and costs of all products."), state.instance.products
        if self.told_as_published:
            data = _("Every earlier period: each product's price, quantity, profit and cost.")
            about = _("The names of all products.")
        return (
            self.history(state, role, "get_previous_pricing_data", data, "periods"),
            lookup(
                "get_product_ids",
                about,
                lambda: {
                    "products": [
                        product.id if self.told_as_published else {"id": product.id, "cost": plain(product.cost)}
                        for product in products
                    ]
                },
                "products",
            ),
        )

    def past_period(self, state: Sales, t: int, role: Role) -> dict[str, Json]:
        sale = state.sales[t]
        rows = [
            {
                "id": product.id,
                "price": sale.prices[product.id],
                "quantity": sale.sold[product.id],
                "profit": sale.profits[product.id],
                "cost": product.cost,
            }
            for product in state.instance.products
        ]
        return {"period": t, "products": plain(rows)}


def is_price(value: Any) -> bool:
    """Return whether a value is a valid price: a number in range, not a boolean."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and isfinite(value) and 0 <= value <= HIGHEST_PRICE
