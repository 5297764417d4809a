"""The parameters of the English auction, its move, the calls so far, and which bids are allowed."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from games.auctions import AscendingConfig, AuctionConfig, PrivateValues
from games.interface import Move, Role
from games.seats import AboutOthersConfig
from games.words import gettext_noop

ROUNDING = 1e-9
"""A bid may be below the minimum by this share of the assets, so that 0.3 is accepted if the minimum is 0.1 + 0.2."""


class EnglishAuctionConfig(AboutOthersConfig, AscendingConfig, AuctionConfig):
    """One treatment. Defaults: five bidders, from 0 in steps of 10."""

    start_price: float = Field(
        0, ge=0, title="Start price", description="The lowest first bid, in units. Above the assets, nobody can bid."
    )
    increment: float = Field(
        10, gt=0, title="Increment", description="How much a bid must exceed the standing bid by, in units."
    )


class Bid(Move):
    """A bid; None to drop out for good."""

    bid: float | None = Field(
        title=gettext_noop("Your bid"),
        description=gettext_noop("Your bid in units; null drops out for good."),
        json_schema_extra={"none": gettext_noop("Drop out for good")},
    )


@dataclass(frozen=True)
class Call:
    """One seat's turn: its bid, or None if it dropped out; `standing` is the standing bid before it, if any."""

    role: Role
    bid: float | None
    standing: float | None


@dataclass(frozen=True)
class Bidding:
    """The auction so far: everybody's value in seat order, and all calls, oldest first."""

    values: tuple[float, ...]
    calls: tuple[Call, ...] = ()

    @property
    def standing(self) -> Call | None:
        """The call with the highest bid so far."""
        return next((call for call in reversed(self.calls) if call.bid is not None), None)

    @property
    def price(self) -> float | None:
        """The standing bid; None before the first bid."""
        return self.standing.bid if self.standing else None

    @property
    def leader(self) -> Role | None:
        """The seat with the standing bid."""
        return self.standing.role if self.standing else None

    @property
    def dropped(self) -> frozenset[Role]:
        """The seats that are out for good."""
        return frozenset(call.role for call in self.calls if call.bid is None)


class EnglishAuctionCore(PrivateValues[EnglishAuctionConfig, Bidding]):
    """What scripts and views ask of the game, besides the rules of all auctions of one item."""

    def next(self, state: Bidding) -> Role | None:
        """Return the seat whose turn is next, skipping the leader and seats that dropped out; None if it is over."""
        roles = self.roles()
        last_index = roles.index(state.calls[-1].role) if state.calls else -1
        skipped = state.dropped | {state.leader}
        following = (roles[(last_index + step) % len(roles)] for step in range(1, len(roles) + 1))
        return next((role for role in following if role not in skipped), None)

    def minimum(self, state: Bidding) -> float:
        """Return the minimum for the next bid; if it is above the assets, no bid is allowed."""
        price = state.price
        return self.config.start_price if price is None else price + self.config.increment

    def lowest(self, state: Bidding) -> float | None:
        """Return the lowest bid allowed now, without floating-point residue; None if no bid is allowed."""
        least = self.minimum(state)
        lowest = float(f"{least:.12g}")
        return None if self._too_low(self.config.assets, least) else min(lowest, self.config.assets)

    def _too_low(self, bid: float, least: float) -> bool:
        return bid < least - ROUNDING * self.config.assets
