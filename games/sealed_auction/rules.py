"""Sealed auction: all bid at once for one item with private values.

Source: Economics Arena, section 3 and appendix B (after Vickrey 1961). The highest valid bid wins (the lowest
seat on ties) and pays the highest valid bid of the others. Under "first", our own variant, the winner pays its own
bid.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from games.auctions import Units, above_value, units
from games.interface import Chance, MoveWarning, Payoffs, Question, Role
from games.results import Count, Ratio, Row, Seat, Share, column
from games.sealed_auction import baselines, quiz, views
from games.sealed_auction.state import Bid, SealedAuctionCore
from games.sealed_auction.told import TOLD
from games.sessions import Session
from games.words import gettext as _
from games.words import gettext_noop


class SealedAuction(SealedAuctionCore):
    """All bidders bid at once; the highest bid wins."""

    told = TOLD
    title = gettext_noop("Sealed auction")
    summary = gettext_noop("All bid at once for one item; the highest bid wins and pays the second-highest.")
    scripts = baselines.SCRIPTS
    default_script = "truthful"
    shown_by = ("truthful", "shade", "overbidder", "underbidder", "rational")
    starting_config = {"runs": 3, "history_depth": 3}
    number_key = "bid"
    asks = gettext_noop("Place your bid")
    screen = views.SCREEN
    reserved_words = "bidder bid item value assets price auction run unit units valid winner"
    move_types = (Bid,)

    class Results(Row):
        runs_played: Count = column("Runs that were played.")
        sold: Count = column("Runs in which the item was sold: those with a valid bid.")
        price_mean: Units | None = column("Mean price over the runs with a sale; empty if there are none.")
        efficiency: Share = column("Mean over runs of winner's value/highest value; 0 if nobody won.")
        overbids: Count = column("Valid bids above the bidder's own value, over all seats and runs.")
        underbids: Count = column("Valid bids below the bidder's own value, over all seats and runs.")
        fouls: Count = column("Bids outside the limits and answers without a number, over all seats and runs.")
        deviation: Ratio | None = column(
            "Mean over seats and runs of |final assets/equilibrium - 1|; empty under the first-price rule.",
            source="Economics Arena, section 3.2",
        )

    class SeatResults(Row):
        value: Units = column("What the item was worth to the seat.")
        wins: Count = column("Runs in which the seat won the item.")
        fouls: Count = column("The seat's bids outside the limits and its answers without a number.")
        bid_to_value: Ratio | None = column("Mean of bid/value over the seat's valid bids; empty if there are none.")
        assets_ratio: Ratio = column("Payoff divided by assets.")
        nash_assets: Units | None = column("N: final assets if all bid their value; empty under the first-price rule.")
        payoff_ratio: Ratio | None = column(
            "Payoff divided by N (Economics Arena's r); empty under the first-price rule."
        )
        deviation: Ratio | None = column("Mean over runs of |final assets/N - 1|; empty under the first-price rule.")

    class Record(Row):
        run: int = column("Number of the run, from 1.")
        role: Seat = column("The seat.")
        bid: Units | None = column("What it bid; empty if it gave no number.")
        foul: bool = column("Whether that bid was outside the limits or missing.")
        won: bool = column("Whether the seat won the item.")
        price: Units | None = column("What the winner of the run paid; empty if nobody won.")
        final_assets: Units = column("What the seat had after the run.")

    # ---- the rules -----------------------------------------------------------------------------------

    def secrets(self, role: Role) -> frozenset[str]:
        """Hide the others' listed values, unless the history shows them."""
        return frozenset() if self.reveals_values else super().secrets(role)

    def warning(self, state: Session, role: Role, move: Any) -> MoveWarning | None:
        """Warn about a foul, and about a bid above what the item is worth to the bidder."""
        foul, value = super().warning(state, role, move), self.value(state, role)
        if foul or move.bid is None or move.bid <= value:
            return foul
        if self.config.price_rule == "first":
            return above_value(value, move.bid)
        words = _("The item is worth {value} to you. If you win and the price is higher, you lose the difference.")
        return MoveWarning(words.format(value=units(value)))

    def setup(self, chance: Chance) -> Session:
        return Session(values=self.draw_values(chance))

    # ---- the result ----------------------------------------------------------------------------------

    result_bars = views.result_bars

    def payoffs(self, state: Session) -> Payoffs:
        """Return the mean over runs of the final assets."""
        sales = self.sales(state)
        return {role: fmean(sale.assets[role] for sale in sales) for role in self.roles()}

    def earned(self, state: Session, role: Role) -> float:
        left = self.config.runs - len(state.runs)
        return fmean([*(sale.assets[role] for sale in self.sales(state)), *[self.config.assets] * left])

    def reference(self, state: Session, role: Role) -> float | None:
        """Return N, the seat's final assets in equilibrium; None under the first-price rule."""
        if self.config.price_rule == "first":
            return None
        return self.equilibrium_assets(state, role)

    def metrics(self, state: Session) -> Results:
        sales, highest = self.sales(state), max(state.values)
        sold = [sale for sale in sales if sale.winner is not None]
        differences = [
            bid - self.value(state, role) for role in self.roles() for bid in self.valid_numbers(state, role)
        ]
        deviations = [self._deviation(state, role) for role in self.roles()]
        return self.Results(
            runs_played=len(sales),
            sold=len(sold),
            price_mean=fmean(sale.price for sale in sold if sale.price is not None) if sold else None,
            efficiency=fmean(self.value(state, sale.winner) / highest if sale.winner else 0.0 for sale in sales),
            overbids=sum(difference > 0 for difference in differences),
            underbids=sum(difference < 0 for difference in differences),
            fouls=sum(self.fouls(state, role) for role in self.roles()),
            deviation=fmean(value for value in deviations if value is not None) if None not in deviations else None,
        )

    def seat_metrics(self, state: Session, role: Role) -> SeatResults:
        value, payoff, reference = self.value(state, role), self.payoffs(state)[role], self.reference(state, role)
        bids = self.valid_numbers(state, role)
        return self.SeatResults(
            value=value,
            wins=sum(sale.winner == role for sale in self.sales(state)),
            fouls=self.fouls(state, role),
            bid_to_value=fmean(bid / value for bid in bids) if bids else None,
            assets_ratio=payoff / self.config.assets,
            nash_assets=reference,
            payoff_ratio=None if reference is None else payoff / reference,
            deviation=self._deviation(state, role),
        )

    def _deviation(self, state: Session, role: Role) -> float | None:
        reference = self.reference(state, role)
        if reference is None:
            return None
        return fmean(abs(sale.assets[role] / reference - 1) for sale in self.sales(state))

    def records(self, state: Session) -> Sequence[Record]:
        """Return a row for every run and seat."""
        return [
            self.Record(
                run=run_number,
                role=role,
                bid=bid,
                foul=not self.valid(bid),
                won=sale.winner == role,
                price=sale.price,
                final_assets=sale.assets[role],
            )
            for run_number, (run, sale) in enumerate(zip(state.runs, self.sales(state), strict=True), start=1)
            for role, bid in zip(self.roles(), run, strict=True)
        ]

    # ---- texts and views -------------------------------------------------------------------------------

    def text_variables(self, role: Role) -> dict[str, Any]:
        config = self.config
        return {
            **super().text_variables(role),
            "assets": config.assets,
            "second_price": config.price_rule == "second",
            "foul_fee": config.foul_fee,
            "values_revealed": self.reveals_values,
        }

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        return quiz.questions(self.config.price_rule, self.config.assets)
