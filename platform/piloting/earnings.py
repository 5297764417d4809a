"""The pay that simulated participants would get; it is shown on their last page but not entered in the ledger."""

from __future__ import annotations

from decimal import Decimal

from django.dispatch import receiver

from matches.models import Match
from participants.models import Enrolment
from participants.signals import enrolment_ended
from piloting.enrolling import cell_of, placement_in
from piloting.models import Walker
from plans import pay as rules
from studies.endings import Earnings, earnings_of, show_earnings
from studies.models import Cell


@receiver(enrolment_ended)
def note_earnings(sender: type[Enrolment], enrolment: Enrolment, **_signal) -> None:
    """Record what this ending would pay, if the participant is simulated."""
    walker = Walker.objects.select_related("pilot__study").filter(enrolment=enrolment).first()
    if walker is None:
        return
    earnings, amounts_due = show_pay(enrolment, cell_of(walker))
    Walker.objects.filter(pk=walker.pk).update(
        payoff=earnings.payoff, owed={reason: str(amount) for reason, amount in amounts_due.items()}
    )


def show_pay(enrolment: Enrolment, cell: Cell) -> tuple[Earnings, dict[str, Decimal]]:
    """Write what the last page shows; return the results and the amounts that a study would owe."""
    rule, earnings, contact = cell.pay(), earnings_of(enrolment, cell.plan), cell.plan.entry.contact
    amounts_due = rules.due(rule, ending=enrolment.state, **earnings.rule_inputs())
    placement = placement_in(cell, enrolment)
    show_earnings(placement, rule, amounts_due, earnings, purpose=Match.Purpose.PILOT, contact=contact)
    return earnings, amounts_due
