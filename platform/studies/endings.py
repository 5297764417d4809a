"""What follows when a participant's way ends: what is owed, what the last page says, whose place is free."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from django.dispatch import receiver

from matches.models import Event, Match, Seat
from participants.models import Enrolment
from participants.signals import enrolment_ended
from participants.states import State
from payouts import rules
from payouts.services import record_due
from recruiters.models import Identity
from studies import enrolling, texts
from studies.models import Placement


@receiver(enrolment_ended)
def settle(sender: type[Enrolment], enrolment: Enrolment, **_signal) -> None:
    """Write the ledger and the earnings of the last page; release the place of a way without valid data."""
    placement = Placement.objects.select_related("cell__version__study").filter(enrolment=enrolment).first()
    if placement is None:
        return
    rule, content = placement.cell.pay(), placement.cell.version.content
    payoff, share = result_of(enrolment)
    if content["purpose"] == Match.Purpose.STUDY:
        slug = placement.cell.version.study.slug
        owed = record_due(enrolment, rule, study=slug, payoff=payoff, share=share)
    else:
        owed = rules.due(rule, ending=enrolment.state, payoff=payoff, share=share)
    show_earnings(
        enrolment,
        rule,
        owed,
        purpose=content["purpose"],
        debriefing=content["texts"].get("debriefing"),
        entry=_came_by(enrolment) or content["entry"],
    )
    if enrolment.state != State.COMPLETED or moved_by_others(enrolment):
        enrolling.release(enrolment)


def show_earnings(
    enrolment: Enrolment,
    rule: rules.PayRule,
    owed: Mapping[str, Decimal],
    *,
    purpose: str,
    debriefing: str | None,
    entry: str,
) -> None:
    """Write what the last page says is paid, and the debriefing for those who played.

    Args:
        entry: by which kind of link the person came, on which depends how they get what is paid.
    """
    amounts = [
        {"reason": reason, "amount": texts.in_currency(amount, rule.currency)} for reason, amount in owed.items()
    ]
    enrolment.earnings = {
        "amounts": amounts,
        "total": texts.in_currency(sum(owed.values(), start=rules.cents(rule.base * 0)), rule.currency),
        "purpose": purpose,
        "entry": entry,
    }
    if debriefing and enrolment.seats.exists():
        enrolment.earnings["debriefing"] = debriefing
    enrolment.save(update_fields=["earnings"])


def _came_by(enrolment: Enrolment) -> str | None:
    return Identity.objects.filter(enrolment=enrolment).values_list("recruiter", flat=True).first()


def moved_by_others(enrolment: Enrolment) -> bool:
    """Whether the clock, a scripted player or another model made a move in a match of this way in place of a player.

    Such a match is kept and paid, and stays out of the dataset (`exports.gate`): it fills no place.
    """
    moves = Event.objects.filter(match__seats__enrolment=enrolment, kind="move", data__by__isnull=False)
    return moves.exists()


def result_of(enrolment: Enrolment) -> tuple[float | None, float | None]:
    """The payoff of the participant's last finished match, and its share g; None without one."""
    seat = (
        Seat.objects.select_related("match")
        .filter(enrolment=enrolment, match__status=Match.Status.FINISHED)
        .order_by("-step")
        .first()
    )
    if seat is None:
        return None, None
    payoff = seat.match.payoffs[seat.role]
    return payoff, seat.match.configured().bonus_share(seat.role, payoff)
