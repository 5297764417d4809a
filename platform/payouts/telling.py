"""What participants read about their pay on the last page."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from participants.models import Enrolment
from participants.signals import telling_pay
from payouts.models import LedgerRow
from payouts.payers import method_of
from plans.pay import in_currency

State = LedgerRow.State


@receiver(telling_pay)
def pay_status(enrolment: Enrolment, **_signal: Any) -> list[str]:
    """Return one sentence if all amounts have the same status, otherwise one per amount.

    Amounts that the recruiter paid, which the page's sum does not contain, are always named.
    """
    rows = list(enrolment.ledger.order_by("reason"))
    sentences = [_sentence_of(row) for row in rows]
    names = {"base": _("For taking part"), "bonus": _("Bonus")}
    if len(set(sentences)) <= 1 and all(row.reason in names for row in rows):
        return sentences[:1]
    further = {"screen_out": _("For the screening, {amount}"), "part": _("A part of the pay, {amount}")}
    amounts = (in_currency(row.amount, row.currency) for row in rows)
    titles = [
        names.get(row.reason) or further.get(row.reason, "{amount}").format(amount=amount)
        for row, amount in zip(rows, amounts, strict=True)
    ]
    return [f"{title}: {sentence}" for title, sentence in zip(titles, sentences, strict=True)]


def _sentence_of(row: LedgerRow) -> str:
    if row.state == State.CONFIRMED:
        return _("This has been paid.")
    method = method_of(row.recruiter)
    if row.state == State.ELSEWHERE and method is not None and (method.lists or method.payer):
        return _("This is paid by the site that brought you here.")
    if row.state == State.ELSEWHERE:
        return _("This is paid by the experiment that brought you here, together with anything else you earn there.")
    if row.rejected:
        last_posting = row.postings.order_by("-number").first()
        return _(
            "The researchers decided not to pay this, because they did not accept your work. {reason} If you think "
            "this is wrong, please report it below."
        ).format(reason=last_posting.why if last_posting else "")
    if row.state == State.WRITTEN_OFF:
        return _("The researchers decided not to pay this. If you think this is wrong, please report it below.")
    when = (row.enrolment.earnings or {}).get("within", "")
    not_said = _("They have not said when.")
    if method is None or (method.payer is None and not method.lists):
        return f"{_('Recorded. The researchers will pay you themselves.')} {when or not_said}"
    if row.state == State.SENT:
        return _("This is being paid through the site that brought you here.")
    recorded = _("Recorded. Once the researchers approve it, it will be paid through the site that brought you here.")
    days = method.approves_within(row.study) if method.approves_within is not None and row.reason == "base" else None
    if days is not None:
        automatically = ngettext(
            "If they have not decided after {days} day, that site approves it automatically.",
            "If they have not decided after {days} days, that site approves it automatically.",
            days,
        )
        when = f"{when} {automatically.format(days=days)}".strip()
    return f"{recorded} {when or not_said}"
