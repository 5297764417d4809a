"""Persuasion: round by round, a seller who knows a product's quality advises a buyer, who decides.

Source: GLEE, section 2.3. In each round the product is of high quality with probability p; alice sees the
quality and sends a message or a recommendation; bob buys at the price M or does not. A sale earns
alice M; a high-quality purchase earns bob M(v - 1), a low-quality one M(u - 1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from games.interface import ON_THE_LAST_PAGE, Chance, Form, MoveData, Payoffs, Prospect, Question, Role, Turn
from games.persuasion import baselines, quiz, views
from games.persuasion.roles import BUYER, HIGH, LOW, SELLER, Quality
from games.persuasion.state import Market, PersuasionCore, Pitch, Purchase, Recommendation, Round
from games.persuasion.told import TOLD
from games.results import Count, Ratio, Row, Share, column
from games.words import gettext as _
from games.words import gettext_noop, worded_property


class Persuasion(PersuasionCore):
    """A seller advises a buyer on products whose quality only the seller knows."""

    told = TOLD
    title = gettext_noop("Persuasion")
    summary = gettext_noop(
        "Round by round, a seller who knows a product's quality tells a buyer about it, and the buyer decides."
    )
    scripts = baselines.SCRIPTS
    default_script = "bayesian"
    shown_by = ("commitment", "trusting")
    reserved_words = (
        "yes no buy buyer seller sell product price quality high low round recommend recommendation message "
        "market dollar"
    )

    private = {SELLER: frozenset(), BUYER: frozenset({"high_value", "low_value"})}

    class Results(Row):
        high_quality_rounds: Count = column("Rounds with a high-quality product.")
        sold: Count = column("Rounds in which the product was bought.")
        sold_high: Count = column("Rounds in which a high-quality product was bought.")
        sold_low: Count = column("Rounds in which a low-quality product was bought.")
        efficiency: Share | None = column(
            "Share of the high-quality products that were bought; empty if there were none.", source="GLEE, section 2.3"
        )
        fairness: Share | None = column(
            "Share of the low-quality products that were not bought; empty if there were none.",
            source="GLEE, section 2.3",
        )
        alice_self_gain: Share = column("Sales divided by rounds.")
        bob_self_gain: Ratio = column(
            "Bob's payoff divided by price times rounds; negative if low quality lost more than high quality earned."
        )

    # ---- roles and rounds --------------------------------------------------------------------------

    def people(self) -> tuple[Role, ...]:
        """Return the roles that people may take; they never play the myopic buyer."""
        return (SELLER,) if self.myopic else (SELLER, BUYER)

    def role_label(self, role: Role) -> str:
        return {SELLER: _("Alice, the seller"), BUYER: _("Bob, the buyer")}[role]

    def progress(self, state: Market) -> tuple[float, float]:
        """Return the moves made, of two in each round: what the seller says and what the buyer decides."""
        return 2 * len(state.played) + (state.now is not None and state.now.offered), 2 * self.last_round

    # ---- playing -----------------------------------------------------------------------------------

    def setup(self, chance: Chance) -> Market:
        return Market((Round(self._draw(1, chance)),))

    def _draw(self, number: int, chance: Chance) -> Quality:
        """Draw the quality of the product in round `number`, known only to the seller."""

        def sample(rng: Random) -> Quality:
            fixed = self.config.qualities
            if fixed is not None and number <= len(fixed):
                return fixed[number - 1]
            return HIGH if rng.random() < self.config.prior else LOW

        return chance.draw("quality", sample, known_to=(SELLER,))

    @property
    def move_types(self) -> tuple[type[Pitch | Recommendation], type[Purchase]]:
        return (Pitch if self.config.message_type == "text" else Recommendation), Purchase

    def turn(self, state: Market) -> Turn | None:
        current = state.now
        if current is None:
            return None
        return self._buyers_turn if current.offered else self._sellers_turn

    @worded_property
    def _sellers_turn(self) -> Turn:
        name = self.role_title(BUYER)
        if self.config.message_type == "text":
            hint = _("{name} sees your message but not the quality.").format(name=name)
            form = Form("pitch", _("Tell {name} about it").format(name=name), Pitch, help=hint)
        else:
            hint = _("{name} sees your recommendation but not the quality.").format(name=name)
            form = Form("recommendation", _("Recommend it or not"), Recommendation, help=hint)
        return Turn({SELLER: (form,)})

    @property
    def _reminder(self) -> str:
        return _("Not buying costs nothing.") if self.config.reminder and not self.told_as_published else ""

    @worded_property
    def _buyers_turn(self) -> Turn:
        return Turn({BUYER: (Form("purchase", _("Buy it or not"), Purchase, help=self._reminder),)})

    def apply(self, state: Market, moves: Mapping[Role, Any], chance: Chance) -> Market:
        ((_role, move),) = moves.items()
        current = state.rounds[-1]
        if isinstance(move, Pitch):
            return self._with_last(state, replace(current, message=move.message))
        if isinstance(move, Recommendation):
            return self._with_last(state, replace(current, recommendation=move.recommendation))
        after_decision = self._with_last(state, replace(current, decision=move.decision))
        rounds_played = len(after_decision.rounds)
        if rounds_played >= self.last_round:
            return after_decision
        return Market((*after_decision.rounds, Round(self._draw(rounds_played + 1, chance))))

    @staticmethod
    def _with_last(state: Market, last: Round) -> Market:
        return Market((*state.rounds[:-1], last))

    def default(self, state: Market, role: Role) -> MoveData:
        """Return a message that says nothing about the product, or the decision not to buy."""
        if role == BUYER:
            return {"decision": "no"}
        if self.config.message_type == "text":
            return {"message": _("I have nothing to say about this product.")}
        return {"recommendation": "no"}

    # ---- the result --------------------------------------------------------------------------------

    def payoffs(self, state: Market) -> Payoffs:
        return {role: self.earned(state.played, role) for role in self.roles()}

    def metrics(self, state: Market) -> Results:
        rounds = state.played
        high = sum(past_round.quality == HIGH for past_round in rounds)
        low = len(rounds) - high
        sold_high = sum(past_round.bought and past_round.quality == HIGH for past_round in rounds)
        sold_low = sum(past_round.bought and past_round.quality == LOW for past_round in rounds)
        return self.Results(
            high_quality_rounds=high,
            sold=sold_high + sold_low,
            sold_high=sold_high,
            sold_low=sold_low,
            efficiency=sold_high / high if high else None,
            fairness=(low - sold_low) / low if low else None,
            alice_self_gain=(sold_high + sold_low) / len(rounds),
            bob_self_gain=self.earned(rounds, BUYER) / (self.config.price * len(rounds)),
        )

    def ends(self, state: Market, role: Role, move: Any) -> bool:
        """Return whether this is the buyer's decision in the last round."""
        return isinstance(move, Purchase) and self.is_last(state) and self.remembers(role)

    def prospects(self, state: Market, role: Role) -> tuple[Prospect, ...]:
        """Return what the role has earned so far; without its share if the number of rounds is hidden."""
        over, earned = state.now is None, self.earned(state.played, role)
        words = _("With no more sales") if role == SELLER else _("If you buy nothing more")
        words = _("For this game") if over else words
        if not self.remembers(role):
            unknown = _("It depends on what all buyers together earn.")
            return (Prospect(words, unknown=_(ON_THE_LAST_PAGE) if over else unknown),)
        if self.config.rounds is None:
            unknown = _("It depends on what you earn in all rounds together.")
            return (Prospect(words, earned, unknown=_(ON_THE_LAST_PAGE) if over else unknown),)
        return (self.prospect(words, role, earned),)

    def pay_examples(self, role: Role) -> tuple[Prospect, ...]:
        """Return an example: half of the products or of the expected maximum; no amount if rounds are hidden."""
        if role == SELLER:
            words = _("if half of the products are bought")
            payoff = None if self.config.rounds is None else self.config.price * self.config.rounds / 2
            return (Prospect(words, payoff, 0.5),)
        best_payoff = None if self.config.rounds is None else self.config.rounds * self.config.prior * self.gain(HIGH)
        examples = (0.0, best_payoff / 2) if best_payoff else (0.0,)
        words = _("if you earn {amount}")
        return tuple(self.prospect(words.format(amount=self.money(earned)), role, earned) for earned in examples)

    def stages(self, moves: Sequence[tuple[Role, MoveData]]) -> Sequence[tuple[int, str]]:
        return [(index // 2 + 1, "purchase" if index % 2 else "recommendation") for index in range(len(moves))]

    def bonus_share(self, role: Role, payoff: float) -> float:
        """Return sales/T for the seller, ½ + payoff/(2·M·T·p·(v - 1)) for the buyer, within [0, 1]."""
        total_price = self.config.price * self.last_round
        if role == SELLER:
            share = payoff / total_price
        else:
            best_payoff = total_price * self.config.prior * (self.config.high_value - 1)
            share = 0.5 + payoff / (2 * best_payoff) if best_payoff else 0.5
        return min(max(share, 0.0), 1.0)

    # ---- what players see --------------------------------------------------------------------------

    def players_write(self) -> bool:
        """Return whether the seller speaks in own words."""
        return self.config.message_type == "text"

    def text_variables(self, role: Role) -> dict[str, Any]:
        knows = self.knows_values(role)
        return {
            **super().text_variables(role),
            "you_sell": role == SELLER,
            "price": self.config.price,
            "prior": self.config.prior,
            "high_worth": self.config.price * self.config.high_value if knows else None,
            "low_worth": self.config.price * self.config.low_value if knows else None,
            "high_gain": self.gain(HIGH) if knows else None,
            "low_loss": -self.gain(LOW) if knows else None,
            "seller_knows_values": self.config.complete_information,
            "words": self.config.message_type == "text",
            "new_buyers": self.myopic,
            "always_revealed": self.config.reveal_quality == "always",
        }

    def quiz(self, role: Role) -> tuple[Question, ...]:
        return (quiz.cost(self.config.price, self.money),)

    def comprehension(self, role: Role) -> tuple[Question, ...]:
        price = self.config.price
        if role == SELLER:
            outcome = quiz.selling(price, self.money)
        else:
            outcome = quiz.buying(price, price * self.config.low_value, self.money)
        return (*self.quiz(role), quiz.truth(), outcome)

    view = views.view
    notices = views.notices
    result_bars = views.result_bars
