"""The parameters of the sealed auction, its move, and how a run ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from games.auctions import AuctionConfig, PrivateValues
from games.interface import Move, Role
from games.sessions import Number, RunsConfig, SealedNumbers, Session
from games.words import gettext_noop


class SealedAuctionConfig(RunsConfig, AuctionConfig):
    """One treatment. Defaults: five bidders, second price, one run; the paper names no fee."""

    price_rule: Literal["second", "first"] = Field(
        "second",
        title="Price rule",
        description="What the winner pays: the highest bid of the others (second), or the winner's own bid (first).",
    )
    foul_fee: float = Field(
        0, ge=0, title="Foul fee", description="What a bid outside the limits costs in a run, in units."
    )
    history_reveals: Literal["bids", "bids_and_values"] = Field(
        "bids",
        title="The history reveals",
        description="Everybody's bids, or everybody's bids and values.",
    )


class Bid(Move):
    """A bid from 0 to the assets."""

    bid: Number = Field(title=gettext_noop("Your bid"))


@dataclass(frozen=True)
class Sale:
    """How a run ended: the winner and the price (None without a valid bid), and everybody's final assets."""

    winner: Role | None
    price: float | None
    assets: Mapping[Role, float]


class SealedAuctionCore(PrivateValues[SealedAuctionConfig, Session], SealedNumbers[SealedAuctionConfig]):
    """What scripts and views ask of the game, besides the rules of all auctions and games of runs."""

    def limit(self) -> float:
        return self.config.assets

    @property
    def reveals_values(self) -> bool:
        """Whether a run is shown with everybody's value."""
        return self.config.history_reveals == "bids_and_values"

    def sale(self, state: Session, index: int) -> Sale:
        """Return how the run with this index ended."""
        config, run = self.config, state.runs[index]
        every = {role: bid for role, bid in zip(self.roles(), run, strict=True) if bid is not None}
        bids = {role: bid for role, bid in every.items() if config.source == "program" or self.valid(bid)}
        assets = {role: config.assets if role in bids else config.assets - config.foul_fee for role in self.roles()}
        if not bids:
            return Sale(None, None, assets)
        winner = max(bids, key=lambda role: bids[role])
        other_bids = [bid for role, bid in bids.items() if role != winner]
        price = bids[winner] if config.price_rule == "first" else max(other_bids, default=0.0)
        assets[winner] = config.assets - price + self.value(state, winner)
        return Sale(winner, price, assets)

    def sales(self, state: Session) -> list[Sale]:
        """Return how all runs so far ended."""
        return [self.sale(state, index) for index in range(len(state.runs))]
