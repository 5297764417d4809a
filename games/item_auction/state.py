"""The state of an auction: finished items, the current item, and every bidder's notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from games.interface import Role

Answers = Mapping[Role, int | None]
"""One bidding round: each bidder's bid; None is a withdrawal."""
Priorities = Mapping[str, int]
"""Priorities from 1 to 3 by item name."""


@dataclass(frozen=True)
class Round:
    """One bidding round of an item.

    Attributes:
        leader, standing: the leader after the round and their bid; None while nobody has bid.
    """

    answers: Answers
    leader: Role | None
    standing: int | None

    @property
    def tied(self) -> bool:
        """Whether several made the highest bid of the round."""
        bids = [bid for bid in self.answers.values() if bid is not None]
        return bids.count(max(bids, default=0)) > 1


@dataclass(frozen=True)
class Lot:
    """The current item, or a finished one.

    Attributes:
        item: its index in the configuration.
        start_price: the current one, after any discounts.
        rounds: bidding rounds since the item was offered, or offered again at a discount.
        discounts: how often its start price was halved.
        passed: rounds before the last discount, in which nobody bid.
        priorities: each bidder's priority of this item at its first answer on it.
    """

    item: int
    start_price: int
    rounds: tuple[Round, ...] = ()
    discounts: int = 0
    passed: tuple[Round, ...] = ()
    priorities: Mapping[Role, int] = field(default_factory=dict)

    @property
    def leader(self) -> Role | None:
        """The leader or the buyer; None while nobody has bid, and for an unsold item."""
        return self.rounds[-1].leader if self.rounds else None

    @property
    def standing(self) -> int | None:
        """The standing bid, or the price paid."""
        return self.rounds[-1].standing if self.rounds else None

    @property
    def all_rounds(self) -> tuple[Round, ...]:
        return (*self.passed, *self.rounds)

    def has_acted(self, role: Role) -> bool:
        """Return whether the bidder has bid on this item or withdrawn from it."""
        return any(role in bidding_round.answers for bidding_round in self.all_rounds)

    def withdrawn(self) -> frozenset[Role]:
        """Return the bidders who have withdrawn from this item."""
        return frozenset(
            role for bidding_round in self.rounds for role, bid in bidding_round.answers.items() if bid is None
        )


@dataclass(frozen=True)
class Plans:
    """A bidder's plans: the current priorities, and those of a first plan made before any answer.

    Attributes:
        made: number of plans.
        errors: items planned although they were finished.
        after: number of finished items at the last plan.
    """

    current: Priorities = field(default_factory=dict)
    initial: Priorities | None = None
    made: int = 0
    errors: int = 0
    after: int = 0


@dataclass(frozen=True)
class Beliefs:
    """Counts of a bidder's belief reports: wrong claims by kind, and finished items at the last report (`after`)."""

    reports: int = 0
    budget: int = 0
    own: int = 0
    others: int = 0
    after: int = 0

    @property
    def errors(self) -> int:
        return self.budget + self.own + self.others


@dataclass(frozen=True)
class Auction:
    """An auction of many items.

    Attributes:
        order: the items' indices in the order of sale.
        over: finished items, in that order.
        lot: the current item; None when all are finished.
        estimates: by bidder, the drawn estimates of the items in the configuration's order; empty: none are drawn.
    """

    order: tuple[int, ...]
    over: tuple[Lot, ...] = ()
    lot: Lot | None = None
    plans: Mapping[Role, Plans] = field(default_factory=dict)
    beliefs: Mapping[Role, Beliefs] = field(default_factory=dict)
    estimates: Mapping[Role, tuple[int, ...]] = field(default_factory=dict)

    def has_answered(self, role: Role) -> bool:
        """Return whether the bidder has bid or withdrawn in this auction."""
        lots = (*self.over, *([self.lot] if self.lot else []))
        return any(lot.has_acted(role) for lot in lots)

    def sold(self) -> tuple[Lot, ...]:
        """Return the items that were sold."""
        return tuple(lot for lot in self.over if lot.leader is not None)

    def won_by(self, role: Role) -> tuple[Lot, ...]:
        """Return the items that this bidder bought."""
        return tuple(lot for lot in self.over if lot.leader == role)
