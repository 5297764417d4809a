"""The parameters of the item auction, its moves, and what follows from them and the state."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from games.auctions import AscendingConfig
from games.interface import Move, Role
from games.item_auction.items import PUBLISHED, Item
from games.item_auction.state import Auction, Lot
from games.seats import EqualSeats, number_of
from games.words import gettext as _
from games.words import gettext_noop, quoted

Priority = Annotated[int, Field(ge=1, le=3)]


PRIORITIES = gettext_noop("By item name: 3 most important, 2 important, 1 least important.")


Overestimate = Annotated[int, Field(ge=-90, le=200)]


DrawnPercent = Annotated[int, Field(ge=0, le=1000)]


Budget = Annotated[int, Field(ge=1)]


Objective = Literal["profit", "items"]


class ItemAuctionConfig(AscendingConfig):
    """One treatment. Defaults: the paper's three bidders and ten items."""

    players: int = Field(3, ge=2, le=10, title="Bidders")
    items: Annotated[tuple[Item, ...], Field(min_length=1, max_length=50)] = Field(
        PUBLISHED, title="Items", description="The items for sale, each with its start price and true value."
    )
    order: Literal["random", "ascending", "descending", "listed"] = Field(
        "random", title="Order of sale", description="At random, by start price, or as listed."
    )
    budget: Budget = Field(20_000, title="Budget", description="What each bidder can spend, a whole number.")
    budgets: tuple[Budget, ...] | None = Field(
        None, title="Budgets by seat", description="If they differ. Empty: the budget above for everybody."
    )
    increment_percent: int = Field(
        10, ge=1, le=100, title="Bid step in percent", description="Minimum raise, in percent of the start price."
    )
    values: Literal["published", "drawn"] = Field(
        "published",
        title="Values and estimates",
        description="published: true values as listed, or twice the start price; every estimate exceeds them by the "
        "overestimate. drawn: every bidder's estimate is drawn, and the true value is the mean of all estimates.",
    )
    drawn_from_percent: DrawnPercent = Field(
        50,
        title="Lowest drawn estimate",
        description="In percent of the start price. All whole amounts up to the highest are equally likely.",
    )
    drawn_to_percent: DrawnPercent = Field(
        350, title="Highest drawn estimate", description="In percent of the start price."
    )
    overestimate_percent: Overestimate = Field(
        10, title="Overestimate in percent", description="How much bidders' estimates exceed the true values."
    )
    overestimate_percents: tuple[Overestimate, ...] | None = Field(
        None, title="Overestimates by seat", description="If they differ. Empty: the one above for everybody."
    )
    objectives: tuple[Objective, ...] | None = Field(
        None, title="Objectives by seat", description="What each bidder should maximise. Empty: profit for everybody."
    )
    tie_break: Literal["random", "first_seat"] = Field(
        "random", title="Equal highest bids", description="Who leads: one of them at random, or the first seat."
    )
    tie_leaders: tuple[Annotated[int, Field(ge=1, le=10)], ...] | None = Field(
        None,
        title="Leaders after ties",
        description="For auctions held elsewhere: the number of the seat that leads after each tie, in turn. Empty, or "
        "not one of the highest bidders: drawn at random.",
    )
    discount_unsold: bool = Field(
        False,
        title="Discount for unsold items",
        description="Halve the start price and offer the item again, at most three times.",
    )
    rule_limit: int = Field(
        4, ge=1, le=100, title="Bids of the rule bidder", description="Maximum number per item before it withdraws."
    )
    notes: bool = Field(
        True, title="Notes", description="Whether models may submit plans and belief reports when asked to."
    )
    people_plan: bool = Field(False, title="People plan", description="Whether people's pages offer to set priorities.")

    @model_validator(mode="after")
    def _lists_fit_the_seats(self) -> ItemAuctionConfig:
        names = [item.name for item in self.items]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise PydanticCustomError(
                "equal_names", "Items: two are called {name}; names must differ.", {"name": quoted(repeated, most=60)}
            )
        if self.drawn_from_percent > self.drawn_to_percent:
            raise PydanticCustomError("drawn", "Drawn estimates: the lowest must not exceed the highest.")
        for key in ("budgets", "overestimate_percents", "objectives"):
            values = getattr(self, key)
            if values is not None and len(values) != self.players:
                raise PydanticCustomError(
                    "wrong_length",
                    "{title} ({key}) needs one value per bidder: {players}, not {found}.",
                    {
                        "title": type(self).model_fields[key].title,
                        "key": key,
                        "players": self.players,
                        "found": len(values),
                    },
                )
        return self


class Bid(Move):
    """A bid on the item; None to withdraw from it for good."""

    bid: int | None = Field(
        title=gettext_noop("Your bid"),
        description=gettext_noop("A whole number; null withdraws from this item for good."),
        json_schema_extra={"none": gettext_noop("Withdraw from this item")},
    )


class Plan(Move):
    """The bidder's priority of each item."""

    priorities: dict[str, Priority] = Field(title=gettext_noop("Priorities"), description=PRIORITIES)


class Belief(Move):
    """The bidder's beliefs about the current state of the auction."""

    remaining_budget: float = Field(title=gettext_noop("Your remaining budget"))
    total_profits: dict[str, float] = Field(
        title=gettext_noop("Total profit so far"), description=gettext_noop("By bidder: p1, p2 and so on.")
    )
    winning_bids: dict[str, dict[str, float]] = Field(
        title=gettext_noop("Items won so far"),
        description=gettext_noop("By bidder: the items' names with the prices paid."),
    )


class ItemAuctionCore(EqualSeats[ItemAuctionConfig, Auction]):
    """What scripts and views ask of the game, besides the rules of all games of equal seats."""

    def item(self, index: int) -> Item:
        return self.config.items[index]

    def budget(self, role: Role) -> int:
        """Return the role's initial budget."""
        budgets = self.config.budgets
        return self.config.budget if budgets is None else budgets[number_of(role) - 1]

    def objective(self, role: Role) -> Objective:
        """Return what the role is asked to maximise."""
        return "profit" if self.config.objectives is None else self.config.objectives[number_of(role) - 1]

    @property
    def drawn(self) -> bool:
        """Whether values and estimates are drawn."""
        return self.config.values == "drawn"

    def drawn_range(self, index: int) -> tuple[int, int]:
        """Return the lowest and the highest estimate of an item that can be drawn."""
        price = self.item(index).start_price
        return price * self.config.drawn_from_percent // 100, price * self.config.drawn_to_percent // 100

    def worth(self, state: Auction, index: int) -> int:
        """Return an item's true value: as configured or, if it is drawn, the mean of all estimates, rounded down."""
        if not self.drawn:
            return self.item(index).worth
        return sum(self.estimate(state, role, index) for role in self.roles()) // self.config.players

    def estimate(self, state: Auction, role: Role, index: int) -> int:
        """Return the role's estimate of an item: as drawn, or floor(true value × (100 + percent) / 100)."""
        if self.drawn:
            return state.estimates[role][index]
        percents = self.config.overestimate_percents
        percent = self.config.overestimate_percent if percents is None else percents[number_of(role) - 1]
        return self.item(index).worth * (100 + percent) // 100

    def most_worth(self, state: Auction, role: Role, index: int) -> int:
        """Return the highest true value to reckon with: its own estimate or, if drawn, what is possible with it."""
        own, others = self.estimate(state, role, index), self.config.players - 1
        return (own + others * self.drawn_range(index)[1]) // (others + 1) if self.drawn else own

    def spent(self, state: Auction, role: Role) -> int:
        return sum(lot.standing or 0 for lot in state.won_by(role))

    def budget_left(self, state: Auction, role: Role) -> int:
        return self.budget(role) - self.spent(state, role)

    def profit(self, state: Auction, role: Role) -> int:
        """Return the true values of the items bought minus the prices paid."""
        return sum(self.worth(state, lot.item) for lot in state.won_by(role)) - self.spent(state, role)

    def step(self, lot: Lot) -> int:
        """Return the minimum raise above the standing bid."""
        return max(1, lot.start_price * self.config.increment_percent // 100)

    def lowest_bid(self, state: Auction) -> int:
        """Return the lowest legal bid on the current item."""
        lot = state.lot
        assert lot is not None
        return lot.start_price if lot.standing is None else lot.standing + self.step(lot)

    def belief_problem(self, state: Auction, role: Role, belief: Belief) -> str:
        """Return what is wrong with a belief report; empty if everything is true."""
        problems = []
        if belief.remaining_budget != (left := self.budget_left(state, role)):
            problems.append(_("You have {left} left.").format(left=self.money(left)))
        for bidder in self.roles():
            if belief.total_profits.get(bidder, 0) != (profit := self.profit(state, bidder)):
                problems.append(
                    _("The total profit of {bidder} is {profit}.").format(bidder=bidder, profit=self.money(profit))
                )
            won = {self.item(lot.item).name: lot.standing for lot in state.won_by(bidder)}
            if belief.winning_bids.get(bidder, {}) != won:
                problems.append(_("The items of {bidder}: {won}.").format(bidder=bidder, won=won or _("none")))
        return " ".join(problems)

    def on_pages(self) -> frozenset[str]:
        return frozenset({"plan"} if self.config.people_plan else ())
