"""Payments to simulated participants: orders are answered in this process, and no money moves anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from django.utils.translation import gettext_lazy as _

from payouts.payers import Answer, AssignmentStatus, Order, Outcome, Payer, PaymentMethod, register
from recruiters import simulated

PAYMENTS: Mapping[str, Outcome] = {
    "paid": Outcome.CONFIRMED,
    "refused": Outcome.REFUSED,
    "unclear": Outcome.UNCLEAR,
    "waiting": Outcome.NOT_FOUND,
}
"""What becomes of a simulated participant's payments: "waiting" ones are never submitted, so they stay approved."""


class SimulatedPayer(Payer):
    """Answers every order as the participant's details say."""

    may_repeat = True

    def balance(self) -> tuple[Decimal, str] | None:
        return None

    def fee(self, order: Order) -> Decimal:
        return Decimal("0.00")

    def assignment_status(self, order: Order) -> AssignmentStatus:
        is_waiting = _outcome(order) == Outcome.NOT_FOUND
        return AssignmentStatus.WORKING if is_waiting else AssignmentStatus.SUBMITTED

    def pay(self, order: Order) -> Answer:
        return self.look_up(order)

    def look_up(self, order: Order) -> Answer:
        outcome = _outcome(order)
        return Answer(outcome, str(_REASONS.get(outcome, "")))


def _outcome(order: Order) -> Outcome:
    return PAYMENTS[order.details.get("payment", "paid")]


_REASONS = {
    Outcome.CONFIRMED: _("Simulated: no money was paid."),
    Outcome.REFUSED: _("Simulated: the recruiter refused the payment, for lack of funds."),
    Outcome.UNCLEAR: _("Simulated: the recruiter gave no clear answer."),
}


def register_method() -> None:
    """Register how simulated participants are "paid"."""
    title = _("simulated participants, who are never paid")
    register(simulated.KIND, PaymentMethod(title=title, payer=lambda study: SimulatedPayer()))
