"""English auction: bidders take turns to raise the bid or drop out for good; the last one buys at their own bid.

Source: Economics Arena, section 3 ("prices are called", bids "sequential"), read as bidding in turn: p1 first,
then round the table, skipping the leader and everybody who dropped out. The auction ends when only the leader is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from games.auctions import Units, above_value
from games.english_auction import baselines, quiz, views
from games.english_auction.state import Bid, Bidding, Call, EnglishAuctionCore
from games.interface import Chance, Form, MoveData, MoveWarning, Payoffs, Prospect, Question, Role, Turn, Usual, View
from games.results import Count, Ratio, Row, Seat, Share, column
from games.words import exact, gettext_noop
from games.words import gettext as _


class EnglishAuction(EnglishAuctionCore):
    """Bidders outbid each other in turn until only one is left."""

    title = gettext_noop("English auction")
    summary = gettext_noop("Bidders take turns to bid or drop out; the last one buys at their own bid.")
    system = "Economics Arena"
    scripts = baselines.SCRIPTS
    default_script = "rational"
    shown_by = ("rational", "underbidder", "overbidder")
    starting_config = {"increment": 50}
    reserved_words = "bidder bid item value assets price auction drop out unit units minimum"
    move_types = (Bid,)

    class Results(Row):
        sold: bool = column("Whether anybody bid.")
        price: Units | None = column("The winning bid, which the winner pays; empty if nobody bid.")
        winner: Seat | None = column("The seat that bought the item; empty if nobody bid.")
        bids: Count = column("Number of bids.")
        efficiency: Share = column("The winner's value divided by the highest value; 0 if nobody bid.")
        deviation: Ratio = column(
            "Mean over seats of |final assets/equilibrium - 1|.", source="Economics Arena, section 3.2"
        )

    class SeatResults(Row):
        value: Units = column("What the item was worth to the seat.")
        bids: Count = column("The seat's bids.")
        overbids: Count = column("The seat's bids above its own value.")
        dropped_at: Units | None = column(
            "The standing bid when the seat dropped out, or the start price before any bid; empty if it never did."
        )
        assets_ratio: Ratio = column("Final assets divided by assets.")
        nash_assets: Units = column(
            "N: final assets if all stay in until their value and the winner pays the second-highest value."
        )
        payoff_ratio: Ratio = column("Final assets divided by N (Economics Arena's r).")
        deviation: Ratio = column("|final assets/N - 1|.")

    class Record(Row):
        turn: int = column("Number of the turn, from 1.")
        role: Seat = column("Whose turn it was.")
        standing: Units | None = column("The standing bid at that time; empty before the first bid.")
        bid: Units | None = column("Its bid; empty if it dropped out.")

    # ---- the rules -----------------------------------------------------------------------------------

    def remembers(self, role: Role) -> bool:
        """Return False: each turn has its own prompt, which shows all bids so far."""
        return False

    def setup(self, chance: Chance) -> Bidding:
        return Bidding(self.draw_values(chance))

    def turn(self, state: Bidding) -> Turn | None:
        role = self.next(state)
        if role is None:
            return None
        return Turn({role: (self._form(state),)})

    def _form(self, state: Bidding) -> Form:
        limits = self.limits_text(state)
        return Form("bid", _("Bid or drop out"), Bid, help=limits, limits=limits)

    def limits_text(self, state: Bidding) -> str:
        """Return which bids are allowed now, as a sentence for the player."""
        lowest = self.lowest(state)
        if lowest is None:
            return _("No bid within your assets is high enough: you can only drop out.")
        return _("A bid must be from {lowest} to {assets}.").format(
            lowest=exact(lowest), assets=exact(self.config.assets)
        )

    def refuse(self, state: Bidding, role: Role, move: Bid) -> str | None:
        if move.bid is None:
            return None
        if self._too_low(move.bid, self.minimum(state)) or move.bid > self.config.assets:
            return self.limits_text(state)
        return None

    def warning(self, state: Bidding, role: Role, move: Bid) -> MoveWarning | None:
        """Ask before a bidder who could still bid drops out, or bids more than the item is worth to them."""
        if move.bid is not None:
            return above_value(self.value(state, role), move.bid)
        if self.lowest(state) is None:
            return None
        return MoveWarning(
            _("If you drop out, you can't bid again, and you won't buy the item."), button=_("Drop out for good")
        )

    def usual(self, state: Bidding, role: Role) -> Mapping[str, Usual]:
        return {"bid": Usual(self.lowest(state) or 0.0, _("the lowest bid now"), only_above=True)}

    def apply(self, state: Bidding, moves: Mapping[Role, Any], chance: Chance) -> Bidding:
        ((role, move),) = moves.items()
        return self._with_call(state, role, move)

    def _with_call(self, state: Bidding, role: Role, move: Bid) -> Bidding:
        return replace(state, calls=(*state.calls, Call(role, move.bid, state.price)))

    def progress(self, state: Bidding) -> tuple[float, float]:
        """Return how near the end is: by the price, of all assets, or by the seats that dropped out, of all but one."""
        start, assets = self.config.start_price, self.config.assets
        raised = ((state.price or start) - start) / (assets - start) if assets > start else 0.0
        return max(raised, len(state.dropped) / max(1, len(self.roles()) - 1)), 1

    def ends(self, state: Bidding, role: Role, move: Any) -> bool:
        """Return whether nobody is left to move after this move."""
        return isinstance(move, Bid) and self.next(self._with_call(state, role, move)) is None

    def default(self, state: Bidding, role: Role) -> MoveData:
        """Return dropping out."""
        return {"bid": None}

    # ---- the result ----------------------------------------------------------------------------------

    def payoffs(self, state: Bidding) -> Payoffs:
        """Return the final assets: the leader pays their bid and gets the item's value."""
        assets = dict.fromkeys(self.roles(), self.config.assets)
        if state.leader is not None and state.price is not None:
            assets[state.leader] += self.value(state, state.leader) - state.price
        return assets

    def prospects(self, state: Bidding, role: Role) -> tuple[Prospect, ...]:
        """Return what the role earns if nobody bids again."""
        words = _("If nobody bids more") if state.leader == role else _("If you don't buy the item")
        return (
            self.prospect(_("For this game") if self.next(state) is None else words, role, self.payoffs(state)[role]),
        )

    def metrics(self, state: Bidding) -> Results:
        winner = state.leader
        return self.Results(
            sold=winner is not None,
            price=state.price,
            winner=winner,
            bids=sum(call.bid is not None for call in state.calls),
            efficiency=self.value(state, winner) / max(state.values) if winner else 0.0,
            deviation=fmean(self._deviation(state, role) for role in self.roles()),
        )

    def seat_metrics(self, state: Bidding, role: Role) -> SeatResults:
        value, payoff, reference = (
            self.value(state, role),
            self.payoffs(state)[role],
            self.equilibrium_assets(state, role),
        )
        own_calls = [call for call in state.calls if call.role == role]
        drop_out = next((call for call in own_calls if call.bid is None), None)
        bids = [call.bid for call in own_calls if call.bid is not None]
        dropped_at = None
        if drop_out is not None:
            dropped_at = self.config.start_price if drop_out.standing is None else drop_out.standing
        return self.SeatResults(
            value=value,
            bids=len(bids),
            overbids=sum(bid > value for bid in bids),
            dropped_at=dropped_at,
            assets_ratio=payoff / self.config.assets,
            nash_assets=reference,
            payoff_ratio=payoff / reference,
            deviation=self._deviation(state, role),
        )

    def _deviation(self, state: Bidding, role: Role) -> float:
        return abs(self.payoffs(state)[role] / self.equilibrium_assets(state, role) - 1)

    def records(self, state: Bidding) -> Sequence[Record]:
        """Return a row for every turn."""
        return [
            self.Record(turn=number, role=call.role, standing=call.standing, bid=call.bid)
            for number, call in enumerate(state.calls, start=1)
        ]

    # ---- texts and views -------------------------------------------------------------------------------

    def text_variables(self, role: Role) -> dict[str, Any]:
        config = self.config
        return {
            "minimum_button": self.config.minimum_button,
            "you": self.role_title(role),
            "first": self.role_title(self.roles()[0]),
            "players": config.players,
            "assets": config.assets,
            "start_price": config.start_price,
            "increment": config.increment,
            "told_of_others": config.about_others(),
        }

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        return quiz.questions()

    view = views.view
    public_view = views.public_view
    result_bars = views.result_bars

    def notices(self, before: Bidding, moves: Mapping[Role, Any], after: Bidding, role: Role) -> View:
        return views.notices(self, after, role)
