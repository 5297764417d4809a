"""Item auction: many items are sold one after another in open ascending auctions with sealed rounds.

Source: AucArena, sections 3 and 4, appendices A and B; where the paper is silent, its authors' program. In
each round everybody who is still in and does not lead bids at least one step above the standing bid or withdraws
from the item for good. When nobody else is left, the leader pays the standing bid. Bidders know estimates of
the items' values that are all wrong by the same percentage; an item's true value is revealed when it is sold.

People see through that rule after one item. With `values="drawn"`, every bidder's estimates are drawn independently,
and an item's true value is their mean: the average-value auction of Goeree and Offerman (2003), "Competitive bidding in
auctions with private and common values".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random
from typing import Annotated, Any

from pydantic import Field, create_model

from games.interface import Chance, Form, Move, MoveData, MoveWarning, Payoffs, Prospect, Question, Role, Turn, Usual
from games.item_auction import baselines, measures, quiz, views
from games.item_auction.core import PRIORITIES, Belief, Bid, ItemAuctionCore, Plan, Priority
from games.item_auction.state import Auction, Beliefs, Lot, Plans, Round
from games.numbers import mean
from games.results import Count, Percent, RoundRecord, Row, Seat, Share, column, in_unit
from games.seats import number_of
from games.words import gettext as _
from games.words import gettext_noop, quoted, worded_property

Correlation = Annotated[float, in_unit("correlation", -1, 1)]
Amount = Annotated[int, in_unit("the game's money")]
MAX_DISCOUNTS = 3
"""How often the start price of an item without bids is halved."""


# ---- moves -------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _plan_of(names: tuple[str, ...]) -> type[Plan]:
    """Return the form of a plan for these remaining items, so that pages have a control for each."""
    field = Field(title="Priorities", description=PRIORITIES, json_schema_extra={"propertyNames": {"enum": [*names]}})
    return create_model("Plan", __base__=Plan, priorities=(dict[str, Priority], field))


class ItemAuction(ItemAuctionCore):
    """Bidders with limited budgets compete for many items, one after another."""

    title = gettext_noop("Auction of many items")
    summary = gettext_noop("Bidders with limited budgets compete for many items, sold one after another.")
    system = "AucArena"
    scripts = baselines.SCRIPTS
    default_script = "rule"
    shown_by = ("rule", "estimate", "greedy")
    starting_config = {"people_plan": True, "values": "drawn"}
    seat_title = gettext_noop("Bidder")
    unseated_title = gettext_noop("a bidder")
    rated_by = "profit"
    reserved_words = (
        "auction bidder bid bids item items price value budget profit hammer withdraw round lot estimate sold"
    )

    class Results(Row):
        items_sold: Count = column("Number of items sold.")
        items_unsold: Count = column("Number of items without a bid.")
        revenue: Amount = column("Sum of the prices paid.")
        rounds_played: Count = column("Bidding rounds over all items.")

    class SeatResults(Row):
        profit: Amount = column("True values of the items bought minus the prices paid.")
        items: Count = column("Items bought.")
        spent: Amount = column("Sum of the prices paid.")
        bids: Count = column("Bids made.")
        withdrawals: Count = column("Withdrawals from items; after a discount, possibly again from the same item.")
        overpaid: Count = column("Items bought for more than their true value.")
        bip_own: Percent | None = column("Mean raise over the bidder's own last bid on the item, or the start price.")
        bip_standing: Percent | None = column("Mean raise over the standing bid, or the start price.")
        belief_claims: Count = column("Claims in all belief reports (AucArena's C).")
        belief_errors: Count = column("Wrong claims (AucArena's F).")
        belief_errors_budget: Count = column("Wrong claims about the bidder's remaining budget.")
        belief_errors_own: Count = column("Wrong claims about the bidder's profit and items.")
        belief_errors_others: Count = column("Wrong claims about the other bidders' profits and items.")
        belief_cfr: Share | None = column("Corrected failure rate F / (C + F); empty without a report.")
        plan_errors: Count = column("Items that plans included although they had already been sold or passed over.")
        rho_initial_bids: Correlation | None = column(
            "Spearman's rho of initial priorities with the bidder's number of bids."
        )
        rho_initial_wins: Correlation | None = column(
            "Spearman's rho of initial priorities with winning the item (0 or 1)."
        )
        rho_current_bids: Correlation | None = column("The same of priorities at the first answer with the bids.")
        rho_current_wins: Correlation | None = column("The same of priorities at the first answer with winning.")

    class Record(RoundRecord):
        round: int = column("Position of the item in the order of sale, from 1.")
        item: str = column("The item's name.")
        start_price: Amount = column("The item's start price, before discounts.")
        discounts: Count = column("How often the start price was halved.")
        true_value: Amount = column("The item's true value.")
        estimate: Amount = column("The bidder's estimate of its value.")
        bidding_rounds: Count = column("Bidding rounds on the item.")
        bids: Count = column("The bidder's bids on the item.")
        priority_initial: int | None = column("The bidder's priority before its first answer in the auction.")
        priority_current: int | None = column("The bidder's priority at its first answer on the item.")
        winner: Seat | None = column("The bidder who bought it; empty if nobody did.")
        price: Amount | None = column("The price paid; empty if the item was not sold.")
        payoff: Amount = column("The bidder's profit on the item.")
        budget_left: Amount = column("The bidder's remaining budget after the item.")

    # ---- parameters --------------------------------------------------------------------------------

    def secrets(self, role: Role) -> frozenset[str]:
        """Return the keys of others' budgets, objectives and overestimates.

        True values and a bidder's overestimate affect only that bidder's estimate, so the contract tests compare
        pairs of configurations with equal estimates instead (`examples.py`). The rule bidder knows its own limit. Who
        leads after a tie becomes known when it happens.
        """
        own_seat = number_of(role) - 1
        return frozenset(
            f"{key}[{seat}]"
            for key in ("budgets", "objectives", "overestimate_percents")
            if getattr(self.config, key) is not None
            for seat in range(self.config.players)
            if seat != own_seat
        )

    # ---- the current state ---------------------------------------------------------------------------

    def bidders(self, lot: Lot) -> tuple[Role, ...]:
        """Return the bidders of the next round: everybody who is still in and does not lead."""
        withdrawn = lot.withdrawn()
        return tuple(role for role in self.roles() if role not in withdrawn and role != lot.leader)

    # ---- playing -----------------------------------------------------------------------------------

    def setup(self, chance: Chance) -> Auction:
        indices = list(range(len(self.config.items)))

        def shuffled(rng: Random) -> list[int]:
            return rng.sample(indices, len(indices))

        match self.config.order:
            case "random":
                indices = chance.draw("order", shuffled)
            case "ascending":
                indices.sort(key=lambda index: self.item(index).start_price)
            case "descending":
                indices.sort(key=lambda index: -self.item(index).start_price)
        return self._call_next(Auction(order=tuple(indices), estimates=self._draw_estimates(chance)))

    def _draw_estimates(self, chance: Chance) -> Mapping[Role, tuple[int, ...]]:
        """Draw every bidder's estimate of every item, known to that bidder alone."""
        if not self.drawn:
            return {}

        def sample(rng: Random) -> list[int]:
            return [rng.randint(*self.drawn_range(index)) for index in range(len(self.config.items))]

        return {role: tuple(chance.draw(f"estimates of {role}", sample, known_to=(role,))) for role in self.roles()}

    def _call_next(self, state: Auction) -> Auction:
        """Return the state with the next item on sale, if one is left."""
        if len(state.over) == len(state.order):
            return replace(state, lot=None)
        index = state.order[len(state.over)]
        return replace(state, lot=Lot(index, self.item(index).start_price))

    @property
    def move_types(self) -> tuple[type[Move], ...]:
        return (Bid, Plan, Belief) if self.config.notes else (Bid,)

    def turn(self, state: Auction) -> Turn | None:
        if state.lot is None:
            return None
        return Turn({role: self._forms(state, role) for role in self.bidders(state.lot)})

    def _forms(self, state: Auction, role: Role) -> tuple[Form, ...]:
        if not self.config.notes:
            return (self._bid_form(state, role),)
        if state.over and state.beliefs.get(role, Beliefs()).after < len(state.over):
            return (self._bid_form(state, role), self._plan_form(state), self._belief_form)
        return (self._bid_form(state, role), self._plan_form(state))

    def _bid_form(self, state: Auction, role: Role) -> Form:
        help_text = _("Bid a whole number, or withdraw from this item.")
        return Form("bid", _("Your bid"), Bid, help=help_text, limits=self._limits_text(state, role))

    def _limits_text(self, state: Auction, role: Role) -> str:
        """Return which bids are legal now, as a sentence for the bidder."""
        lowest, highest = self.lowest_bid(state), self.budget_left(state, role)
        if lowest > highest:
            return _("You can only withdraw.")
        return _("You can bid from {lowest} to {highest}.").format(
            lowest=self.money(lowest), highest=self.money(highest)
        )

    def _plan_form(self, state: Auction) -> Form:
        items_left = state.order[len(state.over) :]
        return Form(
            "plan",
            _("Your plan"),
            _plan_of(tuple(self.item(index).name for index in items_left)),
            help=_("Give each remaining item a priority. You can change it whenever it is your turn."),
            ends_turn=False,
            on_request=True,
        )

    @worded_property
    def _belief_form(self) -> Form:
        return Form(
            "belief",
            _("Current state of the auction"),
            Belief,
            help=_("Report your budget and everybody's profit and items, as you remember them."),
            ends_turn=False,
            on_request=True,
        )

    def refuse(self, state: Auction, role: Role, move: Any) -> str | None:
        if isinstance(move, Plan):
            return self._refuse_plan(move)
        if isinstance(move, Belief):
            return self._refuse_belief(move)
        if move.bid is None:
            return None
        lowest, highest = self.lowest_bid(state), self.budget_left(state, role)
        if lowest <= move.bid <= highest:
            return None
        if lowest > highest:
            return _(
                "You can no longer bid on this item: the lowest bid is {lowest} and you have {highest} left. "
                "You can only withdraw."
            ).format(lowest=self.money(lowest), highest=self.money(highest))
        template = (
            _("{bid} is too low: you can bid from {lowest} to {highest}.")
            if move.bid < lowest
            else _("{bid} is more than you have: you can bid from {lowest} to {highest}.")
        )
        return template.format(bid=self.money(move.bid), lowest=self.money(lowest), highest=self.money(highest))

    def _refuse_plan(self, plan: Plan) -> str | None:
        names = [item.name for item in self.config.items]
        unknown = [name for name in plan.priorities if name not in names]
        if not unknown:
            return None
        return _("There is no item {name}; there are {names}.").format(name=quoted(unknown[0]), names=", ".join(names))

    def _refuse_belief(self, belief: Belief) -> str | None:
        unknown = [role for role in (*belief.total_profits, *belief.winning_bids) if role not in self.roles()]
        if not unknown:
            return None
        return _("There is no bidder {name}; there are {names}.").format(
            name=quoted(unknown[0]), names=", ".join(self.roles())
        )

    def warning(self, state: Auction, role: Role, move: Any) -> MoveWarning | None:
        """Warn about withdrawing, and about a bid above what the bidder should reckon with, which would lose money."""
        if not isinstance(move, Bid) or state.lot is None:
            return None
        if move.bid is None:
            if self.lowest_bid(state) > self.budget_left(state, role):
                return None
            if self.config.discount_unsold:
                words = _(
                    "If you withdraw, you can't bid on this item again, unless nobody buys it at this start price."
                )
            else:
                words = _("If you withdraw, you can't bid on this item again.")
            return MoveWarning(words, button=_("Withdraw from this item"))
        most = self.most_worth(state, role, state.lot.item)
        if move.bid <= most or self.objective(role) == "items":
            return None
        if self.drawn:
            words = _("With your estimate, the item's true value is at most {most}. If you pay {bid}, you lose money.")
        else:
            words = _("Your estimate of this item is {most}. If you pay {bid}, you should expect to lose money.")
        return MoveWarning(words.format(most=self.money(most), bid=self.money(move.bid)))

    def usual(self, state: Auction, role: Role) -> Mapping[str, Usual]:
        if state.lot is None:
            return {}
        return {"bid": Usual(self.lowest_bid(state), _("the lowest bid now"), only_above=True)}

    def ends(self, state: Auction, role: Role, move: Any) -> bool:
        """Return whether this answer, the only one awaited, closes the last item."""
        if not isinstance(move, Bid) or state.lot is None or self.bidders(state.lot) != (role,):
            return False
        items_left = len(state.order) - len(state.over)
        return items_left == 1 and self._answered(state, state.lot, {role: move}, None).lot is None

    def apply(self, state: Auction, moves: Mapping[Role, Any], chance: Chance) -> Auction:
        role, move = next(iter(moves.items()))
        if isinstance(move, Plan):
            return replace(state, plans={**state.plans, role: self._planned(state, role, move)})
        if isinstance(move, Belief):
            return replace(state, beliefs={**state.beliefs, role: self._believed(state, role, move)})
        lot = state.lot
        assert lot is not None
        if not lot.all_rounds:
            name = self.item(lot.item).name
            current = {bidder: plans.current[name] for bidder, plans in state.plans.items() if name in plans.current}
            lot = replace(lot, priorities=current)
        return self._answered(state, lot, moves, chance)

    def _answered(self, state: Auction, lot: Lot, moves: Mapping[Role, Bid], chance: Chance | None) -> Auction:
        """Return the auction after a round of answers."""
        lot = replace(lot, rounds=(*lot.rounds, self._round(state, lot, moves, chance)))
        if self.bidders(lot):
            return replace(state, lot=lot)
        if lot.leader is None and self.config.discount_unsold and lot.discounts < MAX_DISCOUNTS:
            return replace(state, lot=self._discounted(lot))
        return self._call_next(replace(state, over=(*state.over, lot)))

    def _round(self, state: Auction, lot: Lot, moves: Mapping[Role, Bid], chance: Chance | None) -> Round:
        """Return the round made of these answers: the highest bid leads. A single answer needs no `chance`."""
        answers = {role: moves[role].bid for role in self.roles() if role in moves}
        highest = max((bid for bid in answers.values() if bid is not None), default=None)
        if highest is None:
            return Round(answers, lot.leader, lot.standing)
        leaders = [role for role, bid in answers.items() if bid == highest]
        leader = leaders[0]
        if len(leaders) > 1 and self.config.tie_break == "random" and chance is not None:
            listed = self._listed_leader(state, lot)
            leader = listed if listed in leaders else chance.draw("tie", lambda rng: rng.choice(leaders))
        return Round(answers, leader, highest)

    def _listed_leader(self, state: Auction, lot: Lot) -> Role | None:
        """Return who leads after the tie of this round by the configuration; None if it does not say."""
        if self.config.tie_leaders is None:
            return None
        ties = sum(past.tied for each in (*state.over, lot) for past in each.all_rounds)
        return f"p{self.config.tie_leaders[ties]}" if ties < len(self.config.tie_leaders) else None

    @staticmethod
    def _discounted(lot: Lot) -> Lot:
        """Return the item offered again at half its start price, with everybody back in."""
        return replace(
            lot,
            start_price=max(1, lot.start_price // 2),
            rounds=(),
            passed=lot.all_rounds,
            discounts=lot.discounts + 1,
        )

    def _planned(self, state: Auction, role: Role, plan: Plan) -> Plans:
        plans = state.plans.get(role, Plans())
        finished = {self.item(lot.item).name for lot in state.over}
        open_items = {name: priority for name, priority in plan.priorities.items() if name not in finished}
        return Plans(
            current={**plans.current, **open_items},
            initial=open_items if plans.made == 0 and not state.has_answered(role) else plans.initial,
            made=plans.made + 1,
            after=len(state.over),
            errors=plans.errors + len(plan.priorities) - len(open_items),
        )

    def _believed(self, state: Auction, role: Role, belief: Belief) -> Beliefs:
        """Return the reports including this one, with its claims checked against the truth."""
        beliefs = state.beliefs.get(role, Beliefs())

        def wrong_claims(bidder: Role) -> int:
            won = {self.item(lot.item).name: lot.standing for lot in state.won_by(bidder)}
            wrong_profit = belief.total_profits.get(bidder, 0) != self.profit(state, bidder)
            return int(wrong_profit) + int(belief.winning_bids.get(bidder, {}) != won)

        return Beliefs(
            reports=beliefs.reports + 1,
            budget=beliefs.budget + int(belief.remaining_budget != self.budget_left(state, role)),
            own=beliefs.own + wrong_claims(role),
            others=beliefs.others + sum(wrong_claims(bidder) for bidder in self.roles() if bidder != role),
            after=len(state.over),
        )

    def time_factor(self, state: Auction, role: Role) -> float:
        """Return 3 before the role's first answer, when all items are new, and 1 afterwards."""
        return 1.0 if state.has_answered(role) else 3.0

    def default(self, state: Auction, role: Role) -> MoveData:
        """Withdraw from the item."""
        return {"bid": None}

    # ---- the result --------------------------------------------------------------------------------

    def payoffs(self, state: Auction) -> Payoffs:
        """Return each bidder's profit, or its number of items if that is its objective."""
        return {
            role: float(self.profit(state, role) if self.objective(role) == "profit" else len(state.won_by(role)))
            for role in self.roles()
        }

    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return ¼ + 3n·payoff/(8S) for profit, S the sum of all start prices; n·payoff/(2M) for items; in [0, 1].

        Zero profit gives a quarter, losses less; an equal share of the items gives one half.
        """
        if self.objective(role) == "items":
            share = self.config.players * payoff / (2 * len(self.config.items))
        else:
            prices = sum(item.start_price for item in self.config.items)
            share = 0.25 + 3 * self.config.players * payoff / (8 * prices)
        return min(max(share, 0.0), 1.0)

    def metrics(self, state: Auction) -> Results:
        sold = state.sold()
        return self.Results(
            items_sold=len(sold),
            items_unsold=len(state.over) - len(sold),
            revenue=sum(lot.standing or 0 for lot in sold),
            rounds_played=sum(len(lot.all_rounds) for lot in state.over),
        )

    def seat_metrics(self, state: Auction, role: Role) -> SeatResults:
        won = state.won_by(role)
        answers = [
            bidding_round.answers[role]
            for lot in state.over
            for bidding_round in lot.all_rounds
            if role in bidding_round.answers
        ]
        increments = [pair for lot in state.over for pair in measures.increments(lot, role)]
        beliefs, plans = state.beliefs.get(role, Beliefs()), state.plans.get(role, Plans())
        claims = (3 + 2 * (self.config.players - 1)) * beliefs.reports
        initial = [
            (lot, plans.initial[self.item(lot.item).name])
            for lot in state.over
            if plans.initial is not None and self.item(lot.item).name in plans.initial
        ]
        current = [(lot, lot.priorities[role]) for lot in state.over if role in lot.priorities]
        return self.SeatResults(
            profit=self.profit(state, role),
            items=len(won),
            spent=self.spent(state, role),
            bids=sum(bid is not None for bid in answers),
            withdrawals=sum(bid is None for bid in answers),
            overpaid=sum((lot.standing or 0) > self.worth(state, lot.item) for lot in won),
            bip_own=mean(above_own for above_own, _above_standing in increments),
            bip_standing=mean(above_standing for _above_own, above_standing in increments),
            belief_claims=claims,
            belief_errors=beliefs.errors,
            belief_errors_budget=beliefs.budget,
            belief_errors_own=beliefs.own,
            belief_errors_others=beliefs.others,
            belief_cfr=beliefs.errors / (claims + beliefs.errors) if claims else None,
            plan_errors=plans.errors,
            rho_initial_bids=self._correlation(initial, role, wins=False),
            rho_initial_wins=self._correlation(initial, role, wins=True),
            rho_current_bids=self._correlation(current, role, wins=False),
            rho_current_wins=self._correlation(current, role, wins=True),
        )

    @staticmethod
    def _correlation(ranked: Sequence[tuple[Lot, int]], role: Role, *, wins: bool) -> float | None:
        """Return Spearman's rho of priorities with the role's number of bids on the items, or with winning them."""
        behavior = [int(lot.leader == role) if wins else _bids(lot, role) for lot, _priority in ranked]
        return measures.rank_correlation([priority for _lot, priority in ranked], behavior)

    def records(self, state: Auction) -> Sequence[Record]:
        """Return one row per item and bidder, in the order of sale."""
        budget_left = {role: self.budget(role) for role in self.roles()}
        rows = []
        for number, lot in enumerate(state.over, start=1):
            item, price = self.item(lot.item), lot.standing
            for role in self.roles():
                won = lot.leader == role
                budget_left[role] -= (price or 0) if won else 0
                rows.append(
                    self.Record(
                        round=number,
                        role=role,
                        item=item.name,
                        start_price=item.start_price,
                        discounts=lot.discounts,
                        true_value=self.worth(state, lot.item),
                        estimate=self.estimate(state, role, lot.item),
                        bidding_rounds=len(lot.all_rounds),
                        bids=_bids(lot, role),
                        priority_initial=(state.plans.get(role, Plans()).initial or {}).get(item.name),
                        priority_current=lot.priorities.get(role),
                        winner=lot.leader,
                        price=price,
                        payoff=self.worth(state, lot.item) - (price or 0) if won else 0,
                        budget_left=budget_left[role],
                    )
                )
        return rows

    def stage(self, state: Auction) -> tuple[int, str] | tuple[None, None]:
        """Return the item's position in the order of sale, and the bidding round on it."""
        if state.lot is None:
            return None, None
        return len(state.over) + 1, f"round {len(state.lot.all_rounds) + 1}"

    # ---- what players see --------------------------------------------------------------------------

    def progress(self, state: Auction) -> tuple[float, float]:
        """Return the items sold or withdrawn from sale, of all."""
        return len(state.over), len(state.order)

    def length(self) -> str:
        number = len(self.config.items)
        return _("1 item") if number == 1 else _("{number} items").format(number=number)

    def prospects(self, state: Auction, role: Role) -> tuple[Prospect, ...]:
        """Return what the role has earned so far."""
        words = _("For this game") if state.lot is None else _("If you buy nothing more")
        return (self.prospect(words, role, self.payoffs(state)[role]),)

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        """Return two examples: buying nothing, and an equal share of the items, or of their start prices as profit."""
        if self.objective(role) == "items":
            words, payoff = _("if you buy an equal share of the items"), len(self.config.items) / self.config.players
        else:
            payoff = float(sum(item.start_price for item in self.config.items) // self.config.players)
            words = _("if your total profit is {amount}").format(amount=self.money(payoff))
        return self.prospect(_("if you buy nothing"), role, 0.0), self.prospect(words, role, payoff)

    def players_write(self) -> bool:
        """Return False: players send no words to each other."""
        return False

    def text_variables(self, role: Role) -> dict[str, Any]:
        return {
            "you": self.role_title(role),
            "bidders": self.config.players,
            "items": len(self.config.items),
            "budget": self.budget(role),
            "objective": self.objective(role),
            "increment_percent": self.config.increment_percent,
            "first_seat_leads_ties": self.config.tie_break == "first_seat",
            "discount_unsold": self.config.discount_unsold,
            "minimum_button": self.config.minimum_button,
            "drawn_percents": [self.config.drawn_from_percent, self.config.drawn_to_percent] if self.drawn else None,
        }

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        return quiz.questions(self.budget(role), self.money, counts_items=self.objective(role) == "items")

    view = views.view
    public_view = views.public_view
    notices = views.notices
    result_bars = views.result_bars


def _bids(lot: Lot, role: Role) -> int:
    """Return the number of the role's bids on an item."""
    return sum(bidding_round.answers.get(role) is not None for bidding_round in lot.all_rounds)
