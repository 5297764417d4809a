"""English auction: bidders name rising bids in turn, or drop out for good; the last one buys at its bid.

Source: Economics Arena, section 3 ("prices are called", bids "sequential"), read as bids named in turn: first p1,
then onwards in circles, skipping the leader and who dropped out. It ends when nobody but the leader is in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, ClassVar

from pydantic import Field

from games import auctions
from games.english_auction import baselines, quiz, views
from games.interface import (
    Chance,
    Config,
    Form,
    Json,
    Metrics,
    Move,
    MoveData,
    Payoffs,
    Prospect,
    Question,
    Role,
    Script,
    Turn,
    View,
)
from games.seats import EqualSeats, TellsOfOthers
from games.words import exact
from games.words import gettext as _

ROUNDING = 1e-9
"""A bid may miss the lowest one allowed by this share of the assets: 0.1 + 0.2 is 0.3."""


class EnglishAuctionConfig(TellsOfOthers, auctions.AuctionConfig):
    """One treatment. Defaults: five bidders, from 0 in steps of 10."""

    start_price: float = Field(
        0, ge=0, title="Start price", description="The lowest first bid, in units; at most the assets to sell at all."
    )
    increment: float = Field(
        10, gt=0, title="Increment", description="By how much a bid must exceed the standing one, in units."
    )


class Bid(Move):
    """A bid, or none: out for good."""

    bid: float | None = Field(
        title="Your bid",
        description="Your bid in units; null drops out for good.",
        json_schema_extra={"none": _("Drop out for good")},
    )


@dataclass(frozen=True)
class Call:
    """What one seat did in its turn: a bid, or None for dropping out; `standing` is the bid it faced, if any."""

    role: Role
    bid: float | None
    standing: float | None


@dataclass(frozen=True)
class Bidding:
    """The auction so far: everybody's value in order of the seats, and all calls, oldest first."""

    values: tuple[float, ...]
    calls: tuple[Call, ...] = ()

    @property
    def standing(self) -> Call | None:
        """The highest bid so far."""
        return next((call for call in reversed(self.calls) if call.bid is not None), None)

    @property
    def price(self) -> float | None:
        """The standing bid; None before the first."""
        return self.standing.bid if self.standing else None

    @property
    def leader(self) -> Role | None:
        """Who made it."""
        return self.standing.role if self.standing else None

    @property
    def dropped(self) -> frozenset[Role]:
        """Who is out for good."""
        return frozenset(call.role for call in self.calls if call.bid is None)


class EnglishAuction(EqualSeats[EnglishAuctionConfig, Bidding]):
    """Bidders outbid each other in turn until one is left."""

    key: ClassVar[str] = "english_auction"
    title: ClassVar[str] = _("English auction")
    summary: ClassVar[str] = _("Bidders outbid each other in turn or drop out; the last one buys at its own bid.")
    rules_version: ClassVar[int] = 1
    Config: ClassVar[type[Config]] = EnglishAuctionConfig
    State: ClassVar[type] = Bidding
    scripts: ClassVar[Mapping[str, Script]] = baselines.SCRIPTS
    default_script: ClassVar[str] = "rational"
    starting_config: ClassVar[Mapping[str, Json]] = {"increment": 50}
    seat_title: ClassVar[str] = _("Bidder")
    own_words: ClassVar[tuple[str, ...]] = (
        "bidder", "bid", "item", "value", "assets", "price", "auction", "drop", "out", "unit", "units", "minimum",
    )  # fmt: skip
    metric_meanings: ClassVar[Mapping[str, str]] = {
        "sold": "Whether anybody bid.",
        "price": "The last bid, which its bidder pays, in units; empty where nobody bid.",
        "winner": "The seat that bought; empty where nobody bid.",
        "bids": "Bids that were made.",
        "efficiency": "The winner's value over the highest value; 0 where nobody bid.",
        "deviation": "Mean over seats of |final assets/equilibrium's - 1| (Economics Arena, section 3.2).",
    }
    seat_metric_meanings: ClassVar[Mapping[str, str]] = {
        "value": "What the item was worth to the seat, in units.",
        "bids": "Bids that the seat made.",
        "overbids": "Of these, those above its own value.",
        "dropped_at": "The standing bid when the seat dropped out, or the start price before any; empty if never.",
        "assets_ratio": "Final assets over assets.",
        "nash_assets": "N: final assets where all stay until their value and the second-highest value is paid.",
        "payoff_ratio": "Final assets over N (Economics Arena's r).",
        "deviation": "|final assets/N - 1|.",
    }
    record_meanings: ClassVar[Mapping[str, str]] = {
        "turn": "Number of the turn, from 1.",
        "role": "Whose turn it was.",
        "standing": "The standing bid it faced; empty before the first.",
        "bid": "Its bid; empty where it dropped out.",
    }

    # ---- the rules -----------------------------------------------------------------------------------

    def secrets(self, role: Role) -> frozenset[str]:
        return auctions.others_values(self.config, self.roles(), role)

    def remembers(self, role: Role) -> bool:
        """Each turn is a fresh prompt: it shows all bids so far."""
        return False

    def with_seats(self, seats: int) -> Mapping[str, Json]:
        return auctions.with_bidders(self.config, seats)

    def setup(self, chance: Chance) -> Bidding:
        return Bidding(auctions.values_of(self.config, self.roles(), chance))

    def value(self, state: Bidding, role: Role) -> float:
        """What the item is worth to a seat."""
        return state.values[self.roles().index(role)]

    def next(self, state: Bidding) -> Role | None:
        """Whose turn it is: onwards from the last one, skipping the leader and who dropped out; None: it is over."""
        roles = self.roles()
        last = roles.index(state.calls[-1].role) if state.calls else -1
        out = state.dropped | {state.leader}
        circle = (roles[(last + step) % len(roles)] for step in range(1, len(roles) + 1))
        return next((role for role in circle if role not in out), None)

    def minimum(self, state: Bidding) -> float:
        """The lowest bid that is allowed now; above the assets: none is."""
        price = state.price
        return self.config.start_price if price is None else price + self.config.increment

    def lowest(self, state: Bidding) -> float | None:
        """The lowest bid that is allowed now, without what sums leave behind in the last digits; None: none is."""
        least = self.minimum(state)
        lowest = float(f"{least:.12g}")
        return None if self._below(self.config.assets, least) else min(lowest, self.config.assets)

    def _below(self, bid: float, least: float) -> bool:
        return bid < least - ROUNDING * self.config.assets

    def turn(self, state: Bidding) -> Turn | None:
        role = self.next(state)
        if role is None:
            return None
        return Turn({role: (self._form(state),)})

    def _form(self, state: Bidding) -> Form:
        limits = self.limits_in_words(state)
        return Form("bid", _("Bid or drop out"), Bid, help=limits, limits=limits)

    def limits_in_words(self, state: Bidding) -> str:
        """Which bids are allowed now, as a sentence for the player."""
        lowest = self.lowest(state)
        if lowest is None:
            return _("No bid within your assets is high enough: you can only drop out.")
        return _("A bid must be from {lowest} to {assets}.").format(
            lowest=exact(lowest), assets=exact(self.config.assets)
        )

    def refuse(self, state: Bidding, role: Role, move: Bid) -> str | None:
        if move.bid is None:
            return None
        if self._below(move.bid, self.minimum(state)) or move.bid > self.config.assets:
            return self.limits_in_words(state)
        return None

    def apply(self, state: Bidding, moves: Mapping[Role, Any], chance: Chance) -> Bidding:
        ((role, move),) = moves.items()
        return self._called(state, role, move)

    def _called(self, state: Bidding, role: Role, move: Bid) -> Bidding:
        return replace(state, calls=(*state.calls, Call(role, move.bid, state.price)))

    def ends(self, state: Bidding, role: Role, move: Any) -> bool:
        """Whether nobody is asked after it: all others are out, or all but the bidder of the standing bid."""
        return isinstance(move, Bid) and self.next(self._called(state, role, move)) is None

    def default(self, state: Bidding, role: Role) -> MoveData:
        """Out."""
        return {"bid": None}

    # ---- the result ----------------------------------------------------------------------------------

    def payoffs(self, state: Bidding) -> Payoffs:
        """Final assets: the leader has paid its bid and owns the item."""
        assets = dict.fromkeys(self.roles(), self.config.assets)
        if state.leader is not None and state.price is not None:
            assets[state.leader] += self.value(state, state.leader) - state.price
        return assets

    def metrics(self, state: Bidding) -> Metrics:
        winner = state.leader
        return {
            "sold": winner is not None,
            "price": state.price,
            "winner": winner,
            "bids": sum(call.bid is not None for call in state.calls),
            "efficiency": self.value(state, winner) / max(state.values) if winner else 0.0,
            "deviation": fmean(self._deviation(state, role) for role in self.roles()),
        }

    def seat_metrics(self, state: Bidding, role: Role) -> Metrics:
        value, payoff, reference = self.value(state, role), self.payoffs(state)[role], self.reference(state, role)
        own = [call for call in state.calls if call.role == role]
        dropped = next((call for call in own if call.bid is None), None)
        bids = [call.bid for call in own if call.bid is not None]
        at = None
        if dropped is not None:
            at = self.config.start_price if dropped.standing is None else dropped.standing
        return {
            "value": value,
            "bids": len(bids),
            "overbids": sum(bid > value for bid in bids),
            "dropped_at": at,
            "assets_ratio": payoff / self.config.assets,
            "nash_assets": reference,
            "payoff_ratio": payoff / reference,
            "deviation": self._deviation(state, role),
        }

    def reference(self, state: Bidding, role: Role) -> float:
        """N: the seat's final assets in equilibrium."""
        return auctions.equilibrium_assets(self.config, state.values)[self.roles().index(role)]

    def _deviation(self, state: Bidding, role: Role) -> float:
        return abs(self.payoffs(state)[role] / self.reference(state, role) - 1)

    def records(self, state: Bidding) -> Sequence[Mapping[str, Json]]:
        """A row for every turn."""
        return [
            {"turn": number, "role": call.role, "standing": call.standing, "bid": call.bid}
            for number, call in enumerate(state.calls, start=1)
        ]

    def bonus_share(self, role: Role, payoff: float) -> float:
        return auctions.bonus_share(self.config, payoff)

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        return auctions.pay_examples(self.config)

    # ---- what is seen ----------------------------------------------------------------------------------

    def text_variables(self, role: Role) -> dict[str, Any]:
        """What the instructions may mention to this role."""
        config = self.config
        return {
            "you": self.role_title(role),
            "first": self.role_title(self.roles()[0]),
            "players": config.players,
            "assets": config.assets,
            "start_price": config.start_price,
            "increment": config.increment,
            "told_of_others": config.about_others(),
        }

    def quiz(self, role: Role) -> tuple[Question, ...]:
        return quiz.questions()

    def view(self, state: Bidding, role: Role) -> View:
        return views.view(self, state, role)

    def watched(self, state: Bidding) -> View:
        return views.watched(self, state)

    def notices(self, before: Bidding, moves: Mapping[Role, Any], after: Bidding, role: Role) -> View:
        return views.notices(self, after, role)
