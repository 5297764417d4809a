"""The pay that a pilot's participants would get; it is shown on their last page but not entered in the ledger."""

from __future__ import annotations

from django.dispatch import receiver

from matches.models import Match
from participants.models import Enrolment
from participants.signals import enrolment_ended
from piloting.enrolling import cell_of
from piloting.models import Walker
from plans import pay as rules
from studies.endings import earnings_of, show_earnings


@receiver(enrolment_ended)
def note_earnings(sender: type[Enrolment], enrolment: Enrolment, **_signal) -> None:
    """Record what this ending would pay, if the participant is simulated."""
    walker = Walker.objects.select_related("pilot__study").filter(enrolment=enrolment).first()
    if walker is None:
        return
    cell = cell_of(walker)
    rule = cell.pay()
    content = cell.version.content
    earnings = earnings_of(enrolment, content, rule)
    amounts_due = rules.due(rule, ending=enrolment.state, **earnings.rule_inputs())
    show_earnings(
        enrolment,
        rule,
        amounts_due,
        purpose=Match.Purpose.PILOT,
        debriefing=content["texts"].get("debriefing"),
        entry=content["entry"],
        earned=earnings,
    )
    Walker.objects.filter(pk=walker.pk).update(
        payoff=earnings.payoff, owed={reason: str(amount) for reason, amount in amounts_due.items()}
    )
