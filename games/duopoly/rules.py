"""Duopoly: two firms, or one alone, set prices period after period without knowing demand.

Source: EconEvals, section 4.3 (after Calvano et al. 2020 and Fish et al. 2024). The litmus score shows where prices
settle between competition (Nash, 0) and collusion (1). A single firm shows whether it finds the monopoly price.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from games.duopoly import baselines, quiz, views
from games.duopoly.state import FIRMS, FORM, DuopolyCore, History, PriceMove
from games.interface import (
    ON_THE_LAST_PAGE,
    Chance,
    Form,
    Json,
    MoveData,
    Payoffs,
    Prospect,
    Question,
    Role,
    Tool,
    Usual,
)
from games.periods import NoteMove, Quantity, lookup, plain, shown
from games.practice import BeginMove
from games.results import Count, Index, Money, Price, RoundRecord, Row, column
from games.words import gettext as _
from games.words import gettext_noop

PRODUCT = "Product_1"
LAST_FOR_LITMUS = 50
LAST_FOR_CONVERGED: Mapping[str, int] = {"paper": 100, "program": 101}
CONVERGENCE_TOLERANCE = 0.05
"""Largest distance from the monopoly price that counts as having found it: relative (paper) or absolute (program)."""


class Duopoly(DuopolyCore):
    """Firms compete or learn to collude."""

    title = gettext_noop("Duopoly")
    unseated_title = gettext_noop("a firm")
    summary = gettext_noop("Two firms set their prices again and again for the same customers.")
    scripts = baselines.SCRIPTS
    default_script = "tit_for_tat"
    shown_by = ("best_reply", "tit_for_tat")
    starting_config = {"periods": 20}
    oracles = frozenset({"nash", "collusive", "best_reply"})
    reserved_words = "price firm rival profit cost quantity period note sold"
    screen = views.SCREEN
    asks = gettext_noop("Period {period}: set your price.")
    move_types = (PriceMove, NoteMove, BeginMove)

    class Results(Row):
        litmus: Index | None = column("Late prices from Nash (0) to collusive (1).", source="EconEvals, section 4.3")
        mean_price: Price = column("Mean price of all firms over the last periods.")
        nash_price: Price | None = column("Price in the one-period equilibrium; empty without a rival.")
        collusive_price: Price | None = column("Price that maximises joint profit; empty without a rival.")
        monopoly_price: Price | None = column("Price that maximises profit; empty with a rival.")
        converged: bool | None = column("Whether late prices are within 5% of the monopoly price; empty with a rival.")
        periods_played: Count = column("Periods played.")

    class Record(RoundRecord):
        price: Price = column("Its price.")
        quantity: Quantity = column("Quantity sold.")
        payoff: Money = column("Its profit.")

    # ---- parameters --------------------------------------------------------------------------------

    def kind(self, role: Role) -> str:
        """Return the same kind for both firms."""
        return "firm"

    def role_title(self, role: Role) -> str:
        if not self.config.rival:
            return _("Your firm")
        return _("Firm 1") if role == FIRMS[0] else _("Firm 2")

    def practice_config(self) -> Mapping[str, Json]:
        """Use another currency and other customers, so that prices from practice are of no use later."""
        config = self.config
        return {"alpha": 2 * config.alpha, "quality": config.quality + config.cost, "market": config.market / 2}

    # ---- playing -----------------------------------------------------------------------------------

    def begin(self, chance: Chance) -> History:
        return History()

    def period(self, state: History) -> int:
        return len(state.prices)

    def submission(self, state: History, role: Role) -> Form:
        return FORM

    def refuse_submission(self, state: History, role: Role, move: Any) -> str | None:
        return None

    def harm(self, state: History, role: Role, move: Any) -> str:
        if move.price >= self.market.unit_cost:
            return ""
        words = _("Each unit costs you {cost}: at a price of {price}, you lose money on every unit that you sell.")
        return words.format(cost=shown(self.market.unit_cost), price=shown(move.price))

    def usual_numbers(self, state: History, role: Role) -> Mapping[str, Usual]:
        """Return the last price; before there is one, the highest recommended price if it is told."""
        if state.prices:
            return {"price": Usual(state.prices[-1][role], _("your last price"))}
        if self.config.advice is None:
            return {}
        return {"price": Usual(self.shown_advice, _("the highest recommended price"), only_above=True)}

    def submitted(self, state: History, moves: Mapping[Role, Any], chance: Chance) -> History:
        return replace(state, prices=(*state.prices, {role: moves[role].price for role in self.roles()}))

    def last_submission(self, state: History, role: Role) -> MoveData | None:
        return {"price": state.prices[-1][role]} if state.prices else None

    def first_submission(self, state: History, role: Role) -> MoveData:
        """Return half the advised price."""
        return {"price": self.shown_advice / 2}

    # ---- the result --------------------------------------------------------------------------------

    def payoffs(self, state: History) -> Payoffs:
        """Return each firm's total profit."""
        totals = dict.fromkeys(self.roles(), 0.0)
        for t in range(len(state.prices)):
            for role, (_price, _quantity, profit) in self.outcome(state, t).items():
                totals[role] += profit
        return totals

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        """Return examples that do not name the benchmark: at which prices the largest bonus is earned."""
        half = _("if you make half of the profit that earns the largest bonus")
        return Prospect(half, None, 0.5), Prospect(_("if you make that profit or more"), None, 1.0)

    def prospect(self, words: str, role: Role, payoff: float, key: str = "", unknown: str = "") -> Prospect:
        """Return a possible result without its share, which would reveal the benchmark and the number of periods."""
        return Prospect(words, payoff, None, key, unknown or _(ON_THE_LAST_PAGE))

    def so_far(self, state: History, role: Role) -> Prospect:
        profit = self.payoffs(state)[role]
        return self.prospect(_("If it ended now"), role, profit, unknown=_("It depends on your total profit."))

    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return the firm's profit / its profit at the collusive (or monopoly) price, within [0, 1]."""
        return min(max(payoff / (self.config.periods * self.references.best_profit), 0.0), 1.0)

    def metrics(self, state: History) -> Results:
        reference = self.references
        late_prices = state.prices[-min(LAST_FOR_LITMUS, max(1, self.config.periods // 2)) :]
        mean_price = fmean(price for prices in late_prices for price in prices.values())
        litmus = None
        if reference.nash_price is not None and reference.collusive_price is not None:
            litmus = (mean_price - reference.nash_price) / (reference.collusive_price - reference.nash_price)
        return self.Results(
            litmus=None if litmus is None else min(max(litmus, 0.0), 1.0),
            mean_price=mean_price,
            nash_price=reference.nash_price,
            collusive_price=reference.collusive_price,
            monopoly_price=reference.monopoly_price,
            converged=self._converged(state),
            periods_played=len(state.prices),
        )

    def _converged(self, state: History) -> bool | None:
        """Return whether the 10th and 90th percentiles of a lone firm's last prices are near the monopoly price."""
        monopoly_price = self.references.monopoly_price
        if monopoly_price is None:
            return None
        source = self.config.source
        late_prices = sorted(prices[FIRMS[0]] for prices in state.prices[-LAST_FOR_CONVERGED[source] :])
        tolerance = CONVERGENCE_TOLERANCE * (monopoly_price if source == "paper" else 1.0)
        return all(abs(_percentile(late_prices, share) - monopoly_price) <= tolerance for share in (0.1, 0.9))

    def records(self, state: History) -> Sequence[Record]:
        """Return one row per period and firm."""
        return [
            self.Record(round=t + 1, role=role, price=price, quantity=quantity, payoff=profit)
            for t in range(len(state.prices))
            for role, (price, quantity, profit) in self.outcome(state, t).items()
        ]

    # ---- texts and views ---------------------------------------------------------------------------

    def secrets(self, role: Role) -> frozenset[str]:
        """Hide the number of periods and everything about the market except the firm's unit cost."""
        return frozenset({"periods", "quality", "outside", "mu", "market"})

    def text_variables(self, role: Role) -> dict[str, Any]:
        return {"you": self.role_title(role), "rival": self.config.rival, "advice": self.config.advice is not None}

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        return quiz.questions(self.config.rival)

    def lookups(self, state: History, role: Role) -> Sequence[Tool]:
        data = {
            (False, False): _("Every earlier period: your price, quantity sold, profit and cost."),
            (False, True): _(
                "Every earlier period: your price, quantity sold, profit and cost, and your rival's price."
            ),
            (True, False): _("Every earlier period: your price, quantity, profit and cost."),
            (True, True): _("Every earlier period: your price, quantity, profit and cost, and the competitor's price."),
        }[self.told_as_published, self.config.rival]
        about = _("The name of your product and your cost per unit.")
        product: Json = {"id": PRODUCT, "cost": plain(self.market.unit_cost)}
        if self.told_as_published:
            about, product = _("The name of the product."), PRODUCT
        return (
            self.history(state, role, "get_previous_pricing_data", data, "periods"),
            lookup("get_product_ids", about, lambda: {"products": [product]}),
        )

    def past_period(self, state: History, t: int, role: Role) -> dict[str, Json]:
        """Return a past period for a firm, to two decimals; of its rival, only the price."""
        price, quantity, profit = self.outcome(state, t)[role]
        cost, of_rival = self.market.unit_cost, "rival_price"
        if self.told_as_published:  # cost and profit in the fixed currency, in which the cost is always c
            profit, cost, of_rival = profit / self.config.alpha, self.config.cost, "competitor 1"
        row = {"price": price, "quantity": quantity, "profit": profit, "cost": cost}
        if self.config.rival:
            row[of_rival] = next(price for other, price in state.prices[t].items() if other != role)
        return {"period": t, **plain(row)}


def _percentile(ordered: Sequence[float], share: float) -> float:
    """Return a percentile of ordered values, interpolated linearly."""
    position = share * (len(ordered) - 1)
    low = int(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])
