"""Bargaining: alternating offers over a sum of money that loses value with every round.

Source: Rubinstein (1982) as in GLEE, section 2.1. Odd rounds: alice proposes a split and bob answers;
even rounds the other way round. With M the money to divide, agreement in round t on alice's undiscounted
share p pays M·δA^(t-1)·p and M·δB^(t-1)·(1-p); without agreement both get nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, create_model

from games.bargaining import baselines, quiz, views
from games.bargaining.state import Answer, BargainingCore, Offer, Proposal, Rounds, SilentOffer, Split
from games.bargaining.told import TOLD
from games.glee import ALICE, BOB, other
from games.interface import Form, Move, MoveData, MoveWarning, Payoffs, Prospect, Question, Role
from games.results import Count, Index, Row, Share, column
from games.words import Amounts, cached_by_language, gettext_noop, in_amounts, worded_property
from games.words import gettext as _

SUM_TOLERANCE = 1e-6
"""Tolerance for the sum of an offer's two parts, as a share of the money."""
NEXT_TO_NOTHING = 0.01
"""The share of the money up to which pages ask whether an offer is meant to leave so little for its maker."""


@cached_by_language
def _own_part(money: float, amounts: Amounts, full: type[Split]) -> type[Move]:
    """Return the short form of an offer: the part of `whole` that the proposer keeps, and the `full` form's message."""
    description = _("Your part of {money}; the rest goes to the other player.")
    description = description.format(money=_with_all_digits(money, amounts))
    own_gain = Field(ge=0, le=money, title=_("You get"), description=description)
    message: Any = full.model_fields["message"]
    return create_model("OwnPart", __base__=Move, your_gain=(float, own_gain), message=(message.annotation, message))


def _with_all_digits(amount: float, amounts: Amounts) -> str:
    """Return `amount` with all its digits: players could not reach a rounded sum exactly."""
    if abs(round(amount, 2) - amount) <= 1e-9 * abs(amount):
        return in_amounts(amount, amounts)
    digits = f"{amount:,.15g}"
    return _("{number} points").format(number=digits) if amounts == "points" else f"${digits}"


class Bargaining(BargainingCore):
    """Two players divide money that loses value with every round."""

    told = TOLD
    title = gettext_noop("Bargaining")
    summary = gettext_noop("Two players take turns proposing how to divide money that loses value every round.")
    scripts = baselines.SCRIPTS
    default_script = "haggler"
    screen = views.SCREEN
    shown_by = ("haggler", "fair")
    reserved_words = "accept reject offer answer round split money dollar"
    private = {ALICE: frozenset({"delta_alice"}), BOB: frozenset({"delta_bob"})}

    class Results(Row):
        agreement: bool = column("Whether an offer was accepted.")
        rounds_played: Count = column("Rounds in which an offer was made.")
        alice_share: Share | None = column(
            "Alice's share of the money before any loss of value; empty without agreement."
        )
        efficiency: Share = column(
            "Sum of both payoffs divided by the money; 0 without agreement.", source="GLEE, section 2.1"
        )
        fairness: Index = column(
            "1 - 4(p - 1/2)^2 with p Alice's share; 1 without agreement.", source="GLEE, section 2.1"
        )
        alice_self_gain: Share = column("Alice's payoff divided by the money.")
        bob_self_gain: Share = column("Bob's payoff divided by the money.")

    # ---- playing -----------------------------------------------------------------------------------

    @property
    def move_types(self) -> tuple[type[Offer | SilentOffer], type[Answer]]:
        return (Offer if self.config.messages_allowed else SilentOffer), Answer

    @worded_property
    def offer_forms(self) -> Mapping[Role, Form]:
        return {role: self._offer_form(role) for role in self.roles()}

    def _offer_form(self, role: Role) -> Form:
        full, _answer = self.move_types
        return Form(
            "offer",
            _("Make an offer"),
            full,
            help=_("The two parts must add up to {money}.").format(
                money=_with_all_digits(self.config.money, self.amounts)
            ),
            short=_own_part(self.config.money, self.amounts, full),
            expand=lambda short: self.split(role, short.your_gain, short.message),
            labels={f"{role}_gain": _("You get")},
        )

    @worded_property
    def answer_form(self) -> Form:
        return Form("answer", _("Answer the offer"), Answer, help=_("Accepting ends the game with this split."))

    def refuse(self, state: Rounds, role: Role, move: Any) -> str | None:
        if not isinstance(move, Split):
            return None
        total = move.alice_gain + move.bob_gain
        if abs(total - self.config.money) <= SUM_TOLERANCE * self.config.money:
            return None
        return _("The two parts add up to {total}, but they must add up to exactly {money}.").format(
            total=_with_all_digits(total, self.amounts), money=_with_all_digits(self.config.money, self.amounts)
        )

    def warning(self, state: Rounds, role: Role, move: Any) -> MoveWarning | None:
        """Ask before a player offers everything, or almost everything, to the other one."""
        if not isinstance(move, Split):
            return None
        own_part, money = self.proposal(role, move).gain(role), self.config.money
        if own_part > NEXT_TO_NOTHING * money:
            return None
        words = _("This offer leaves {own} of {money} for you.")
        return MoveWarning(words.format(own=self.money(own_part), money=self.money(money)))

    def proposal(self, role: Role, move: Any) -> Proposal:
        return Proposal(role, move.alice_gain, move.bob_gain, move.message)

    def first_proposal(self, role: Role) -> MoveData:
        """Return equal halves."""
        half = self.config.money / 2
        return {"alice_gain": half, "bob_gain": half}

    # ---- the result --------------------------------------------------------------------------------

    def payoffs(self, state: Rounds) -> Payoffs:
        agreed = state.accepted
        if agreed is None:
            return {ALICE: 0.0, BOB: 0.0}
        number = len(state.proposals)
        return {role: agreed.gain(role) * self.worth(role, number) for role in self.roles()}

    def metrics(self, state: Rounds) -> Results:
        agreed = state.accepted
        payoffs = self.payoffs(state)
        share = agreed.alice_gain / self.config.money if agreed else None
        return self.Results(
            agreement=agreed is not None,
            rounds_played=len(state.proposals),
            alice_share=share,
            efficiency=(payoffs[ALICE] + payoffs[BOB]) / self.config.money,
            fairness=1 - 4 * (share - 0.5) ** 2 if share is not None else 1.0,
            alice_self_gain=payoffs[ALICE] / self.config.money,
            bob_self_gain=payoffs[BOB] / self.config.money,
        )

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        words = _("if you earn {amount}")
        return tuple(
            self.prospect(words.format(amount=self.money(earned)), role, earned)
            for earned in (self.config.money / 2, self.config.money)
        )

    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return payoff / M, within [0, 1]."""
        return min(max(payoff / self.config.money, 0.0), 1.0)

    # ---- what players see --------------------------------------------------------------------------

    def text_variables(self, role: Role) -> dict[str, Any]:
        return {
            **super().text_variables(role),
            "money": self.config.money,
            "your_loss": 1 - self.delta(role),
            "other_loss": 1 - self.delta(other(role)) if self.config.complete_information else None,
        }

    def quiz(self, role: Role) -> tuple[Question, ...]:
        return (quiz.loss(self.delta(role)),)

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        return (*self.quiz(role), quiz.rejecting(self.config.rounds))
