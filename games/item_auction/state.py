"""Where an auction stands: what was sold, the item under the hammer, and every bidder's notes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from games.interface import Role

Answers = Mapping[Role, int | None]
"""One bidding round: what each bidder who was asked bid; None is a withdrawal."""
Priorities = Mapping[str, int]
"""Priorities from 1 to 3 by item name."""


@dataclass(frozen=True)
class Round:
    """One bidding round of an item.

    Attributes:
        leader, standing: who leads after it and with which bid; None while nobody has bid.
    """

    answers: Answers
    leader: Role | None
    standing: int | None


@dataclass(frozen=True)
class Lot:
    """An item under the hammer, or one that is over.

    Attributes:
        item: its index in the configuration.
        start_price: the one in force, after any discounts.
        rounds: bidding rounds since the item was called, or called again at a discount.
        discounts: how often its start price was halved.
        passed: rounds before the last discount, in which nobody bid.
        priorities: each bidder's priority of this item when it first answered on it.
    """

    item: int
    start_price: int
    rounds: tuple[Round, ...] = ()
    discounts: int = 0
    passed: tuple[Round, ...] = ()
    priorities: Mapping[Role, int] = field(default_factory=dict)

    @property
    def leader(self) -> Role | None:
        """Who leads, or bought it; None while nobody has bid, or where it stayed unsold."""
        return self.rounds[-1].leader if self.rounds else None

    @property
    def standing(self) -> int | None:
        """The standing bid, or the price it was sold for."""
        return self.rounds[-1].standing if self.rounds else None

    @property
    def all_rounds(self) -> tuple[Round, ...]:
        return (*self.passed, *self.rounds)

    def asked(self, role: Role) -> bool:
        """Whether the bidder has bid on this item or withdrawn from it."""
        return any(role in played.answers for played in self.all_rounds)

    def withdrawn(self) -> frozenset[Role]:
        """Who is out of the bidding for this item."""
        return frozenset(role for played in self.rounds for role, bid in played.answers.items() if bid is None)


@dataclass(frozen=True)
class Plans:
    """A bidder's plans: the priorities in force, and those of a first plan made before any answer.

    Attributes:
        made: how many plans.
        errors: items named although they were over.
        after: the number of items over at the last plan.
    """

    current: Priorities = field(default_factory=dict)
    initial: Priorities | None = None
    made: int = 0
    errors: int = 0
    after: int = 0


@dataclass(frozen=True)
class Beliefs:
    """A bidder's belief reports, counted: wrong claims by kind, and the number of items over at the last report."""

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
        over: items that are over, in that order.
        lot: the item under the hammer; None when all are over.
    """

    order: tuple[int, ...]
    over: tuple[Lot, ...] = ()
    lot: Lot | None = None
    plans: Mapping[Role, Plans] = field(default_factory=dict)
    beliefs: Mapping[Role, Beliefs] = field(default_factory=dict)

    def has_answered(self, role: Role) -> bool:
        """Whether the bidder has bid or withdrawn in this auction."""
        lots = (*self.over, *([self.lot] if self.lot else []))
        return any(lot.asked(role) for lot in lots)

    def sold(self) -> tuple[Lot, ...]:
        """The items that somebody bought."""
        return tuple(lot for lot in self.over if lot.leader is not None)

    def won_by(self, role: Role) -> tuple[Lot, ...]:
        """The items that this bidder bought."""
        return tuple(lot for lot in self.over if lot.leader == role)
