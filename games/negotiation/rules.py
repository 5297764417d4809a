"""Negotiation: a seller and a buyer haggle over the price of one product.

Source: GLEE, section 2.2. With M the price scale, the product is worth V_A = M·F_A to the seller, alice, and
V_B = M·F_B to the buyer, bob. Odd rounds: alice names a price and bob answers; even rounds the other way round.
A trade at price p pays p - V_A and V_B - p; without a trade both get nothing. Nothing loses value with time.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from games.interface import Form, MoveData, MoveWarning, Payoffs, Prospect, Question, Role, Usual
from games.negotiation import baselines, quiz, views
from games.negotiation.amounts import earnings, formatted
from games.negotiation.roles import BUYER, SELLER, at_least_as_good, gain
from games.negotiation.state import Answer, AnswerOrLeave, NegotiationCore, Offer, Proposal, Rounds, SilentOffer
from games.negotiation.told import TOLD
from games.results import Count, Index, Price, Ratio, Row, column
from games.words import gettext as _
from games.words import gettext_noop, worded_property


def _finite(number: float) -> float:
    """Return `number`, limited to the finite floats: results stay plain numbers for any price."""
    return min(max(number, -sys.float_info.max), sys.float_info.max)


class Negotiation(NegotiationCore):
    """A seller and a buyer negotiate a price."""

    told = TOLD
    title = gettext_noop("Negotiation")
    summary = gettext_noop("A seller and a buyer take turns naming a price for one product.")
    scripts = baselines.SCRIPTS
    default_script = "haggler"
    screen = views.SCREEN
    starting_config = {"seller_factor": 0.8, "buyer_factor": 1.2}
    """A published cell with a surplus to share; the baseline of the analysis has none."""
    reserved_words = (
        "accept reject walk away price product offer answer value worth seller buyer sell buy trade deal round "
        "message money dollar"
    )

    private = {SELLER: frozenset({"seller_factor"}), BUYER: frozenset({"buyer_factor"})}

    class Results(Row):
        trade: bool = column("Whether a price was accepted.")
        price: Price | None = column("The price of the trade; empty without a trade.")
        rounds_played: Count = column("Rounds in which a price was named.")
        efficiency: Annotated[int, Field(ge=0, le=1)] = column(
            "1 if the product goes to the player who values it more: a trade at a price from the seller's value to the "
            "buyer's, or no trade if the buyer does not value it more; otherwise 0.",
            source="GLEE, section 2.2",
        )
        fairness: Index = column("fairness_raw, limited to values from 0 to 1.")
        fairness_raw: Ratio = column(
            "1 - 4((p - f) / M)^2 with price p, scale M, and f halfway between the two values; 1 without a trade.",
            source="GLEE, section 2.2",
        )
        alice_self_gain: Ratio = column("The seller's payoff divided by the scale M; 0 without a trade.")
        bob_self_gain: Ratio = column("The buyer's payoff divided by the scale M; 0 without a trade.")

    # ---- parameters --------------------------------------------------------------------------------

    def role_label(self, role: Role) -> str:
        return {SELLER: _("Alice, the seller"), BUYER: _("Bob, the buyer")}[role]

    def money(self, amount: float) -> str:
        return formatted(amount, self.amounts)

    # ---- playing -----------------------------------------------------------------------------------

    @property
    def may_walk_away(self) -> bool:
        return self.config.outside_option

    @property
    def move_types(self) -> tuple[type[Offer | SilentOffer], type[Answer | AnswerOrLeave]]:
        return (
            Offer if self.config.messages_allowed else SilentOffer,
            AnswerOrLeave if self.config.outside_option else Answer,
        )

    @worded_property
    def offer_forms(self) -> Mapping[Role, Form]:
        words = _(
            "Any price from {nothing} up. If it is accepted, the product is sold at this price and the game ends."
        ).format(nothing=self.money(0))
        return dict.fromkeys(self.roles(), Form("offer", _("Name a price"), self.move_types[0], help=words))

    @worded_property
    def answer_form(self) -> Form:
        words = _("Accepting ends the game with a trade at this price.")
        if self.config.outside_option:
            words = _("Accepting ends the game with a trade at this price. Walking away ends it without a trade.")
        return Form("answer", _("Answer the offer"), self.move_types[1], help=words)

    def warning(self, state: Rounds, role: Role, move: Any) -> MoveWarning | None:
        """Ask before a player trades, or offers to trade, at a loss, or walks away from a game that could go on."""
        if isinstance(move, Offer | SilentOffer):
            return self._about_loss(role, move.price, _("If this price is accepted, {loss}. {worth}"))
        if move.decision == "accept" and state.on_table:
            return self._about_loss(role, state.on_table.price, _("If you accept, {loss}. {worth}"))
        if move.decision != "walk_away" or self.ends_with(len(state.proposals)):
            return None
        return MoveWarning(_("If you walk away, the game ends now, without a trade."), button=_("Walk away"))

    def _about_loss(self, role: Role, price: float, sentence: str) -> MoveWarning | None:
        """Return a warning if a trade at this price is a loss, which no trade is."""
        if at_least_as_good(role, price, self.value(role)):
            return None
        worth = _("The product is worth {value} to you.").format(value=self.money(self.value(role)))
        loss = earnings(gain(role, price, self.value(role)), self.amounts)
        return MoveWarning(sentence.format(loss=loss, worth=worth))

    def usual(self, state: Rounds, role: Role) -> Mapping[str, Usual]:
        if state.on_table:
            return {}
        if state.proposals:
            return {"price": Usual(state.proposals[-1].price, _("the last price"))}
        return {"price": Usual(self.value(role), _("what the product is worth to you"))}

    def proposal(self, role: Role, move: Any) -> Proposal:
        return Proposal(role, move.price, move.message)

    def first_proposal(self, role: Role) -> MoveData:
        """Return the role's own value, which cannot lose money."""
        return {"price": self.value(role)}

    # ---- the result --------------------------------------------------------------------------------

    def payoffs(self, state: Rounds) -> Payoffs:
        traded = state.accepted
        return {role: gain(role, traded.price, self.value(role)) if traded else 0.0 for role in self.roles()}

    def metrics(self, state: Rounds) -> Results:
        price = state.accepted.price if state.accepted else None
        raw_fairness = self._fairness(price)
        gains = {role: _finite(payoff / self.config.scale) for role, payoff in self.payoffs(state).items()}
        return self.Results(
            trade=price is not None,
            price=price,
            rounds_played=len(state.proposals),
            efficiency=int(self._efficient(price)),
            fairness=min(max(raw_fairness, 0.0), 1.0),
            fairness_raw=raw_fairness,
            alice_self_gain=gains[SELLER],
            bob_self_gain=gains[BUYER],
        )

    def _efficient(self, price: float | None) -> bool:
        """Return whether the product went to the player who values it more, without a loss for either."""
        if price is None:
            return self.value(SELLER) >= self.value(BUYER)
        return all(at_least_as_good(role, price, self.value(role)) for role in self.roles())

    def _fairness(self, price: float | None) -> float:
        """Return 1 - 4((p - p_f) / M)² with p_f halfway between the values; 1 without a trade."""
        if price is None:
            return 1.0
        halfway = self.value(SELLER) / 2 + self.value(BUYER) / 2
        distance = (price - halfway) / self.config.scale
        return _finite(1 - 4 * distance * distance)

    def prospect(self, words: str, role: Role, payoff: float, key: str = "", unknown: str = "") -> Prospect:
        """Return a possible result; without its share if that would reveal the other's value."""
        share_is_known = self.config.complete_information or payoff == 0
        return Prospect(words, payoff, self.bonus_share(role, payoff) if share_is_known else None, key, unknown)

    @property
    def at_stake(self) -> float:
        """What the players can share, at least a tenth of the scale: max(|V_B - V_A|, M/10)."""
        return max(abs(self.value(BUYER) - self.value(SELLER)), self.config.scale / 10)

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        """Return two examples: earning nothing and, if both know the values, half of what is at stake."""
        examples = (0.0, self.at_stake / 2) if self.config.complete_information else (0.0,)
        words = _("if you earn {amount}")
        return tuple(self.prospect(words.format(amount=self.money(earned)), role, earned) for earned in examples)

    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return ½ + payoff / (2·max(|V_B - V_A|, M/10)), within [0, 1]: no trade pays one half."""
        return min(max(0.5 + payoff / self.at_stake / 2, 0.0), 1.0)

    # ---- what players see --------------------------------------------------------------------------

    def text_variables(self, role: Role) -> dict[str, Any]:
        return {
            **super().text_variables(role),
            "you_sell": role == SELLER,
            "your_value": self.value(role),
            "other_value": self.value_of_other(role),
            "outside_option": self.config.outside_option,
        }

    def quiz(self, role: Role) -> tuple[Question, ...]:
        return (quiz.worth(self.value(role), self.money),)

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        earnings = quiz.earnings(self.value(role), self.money, sells=role == SELLER)
        return (*self.quiz(role), earnings, quiz.rejecting(self.config.rounds))
