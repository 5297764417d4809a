"""Decisions about ledger rows: approve, withdraw, write off, mark as paid, resolve, undo, limit.

Each decision locks what it changes, applies fully or not at all, and records the user in the journal. A row
that is no longer in the right state (after a second click, or a colleague's) is left unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from participants.models import Enrolment
from payouts import paying
from payouts.models import LedgerRow, Limit, Transfer
from payouts.payers import Payer, Unreachable, method_of
from payouts.posting import post
from plans.pay import cents
from recruiters.models import Identity

State = LedgerRow.State
ZERO = Decimal("0.00")
APPROVABLE = (State.DUE, State.FAILED)
COMMITTED = (State.APPROVED, State.SENT, State.CONFIRMED, State.UNCLEAR)
"""States that count against a study's limit: paid, or still payable."""


class NotDone(Exception):
    """Nothing was changed; the message tells the user why."""


@dataclass
class Sums:
    """Totals of rows in one currency."""

    rows: int = 0
    people: set[int] = field(default_factory=set)
    amount: Decimal = ZERO
    fee: Decimal = ZERO

    @property
    def total(self) -> Decimal:
        return self.amount + self.fee

    def add(self, row: LedgerRow, fee: Decimal | None) -> None:
        self.rows += 1
        self.people.add(row.enrolment_id)
        self.amount += row.amount
        self.fee += fee or ZERO


def is_by_hand(row: LedgerRow) -> bool:
    """Return whether the researcher pays this row outside Parley."""
    method = method_of(row.recruiter)
    return row.state != State.ELSEWHERE and (method is None or method.payer is None)


# ---- approving -------------------------------------------------------------------------------------


def fees_of(rows: Iterable[LedgerRow]) -> dict[int, Decimal | None]:
    """Return the recruiter's fee by row key; None where Parley does not pay or the fee is unknown.

    Raises:
        Unreachable: an account could not be reached.
    """
    row_list = list(rows)
    identities = {
        identity.enrolment_id: identity
        for identity in Identity.objects.filter(enrolment__in={r.enrolment_id for r in row_list})
    }
    payers: dict[tuple[str, str], Payer | None] = {}
    fees: dict[int, Decimal | None] = {}
    for row in row_list:
        key = (row.recruiter, row.study)
        if key not in payers:
            payers[key] = paying.payer_of(row)
        payer, identity = payers[key], identities.get(row.enrolment_id)
        fees[row.pk] = paying.fee_of(row, payer, identity) if payer is not None and identity is not None else None
    return fees


def committed(study: str, currency: str) -> Decimal:
    """Return the total paid or approved, fees included."""
    rows = LedgerRow.objects.filter(study=study, currency=currency, state__in=COMMITTED)
    sums = rows.aggregate(amount=Coalesce(Sum("amount"), ZERO), fee=Coalesce(Sum("fee"), ZERO))
    return cents(sums["amount"] + sums["fee"])


def limit_of(study: str, currency: str) -> Decimal | None:
    """Return the limit on pay in this study and currency; None if there is none."""
    return Limit.objects.filter(study=study, currency=currency).values_list("most", flat=True).first()


def set_limit(*, study: str, currency: str, most: Decimal | None) -> None:
    """Set the limit on pay; None removes it.

    Raises:
        NotDone: more than that is already committed.
    """
    with transaction.atomic():
        limit = _locked_limit(study, currency)
        if most is not None and most < (so_far := committed(study, currency)):
            message = _("{so_far} {currency} are already approved or paid; the limit cannot be lower.")
            raise NotDone(message.format(so_far=so_far, currency=currency))
        limit.most = most
        limit.save(update_fields=["most"])


def approve(*, study: str, rows: Collection[int], user: Any) -> dict[str, Sums]:
    """Approve those rows that are due or failed; return the approved totals by currency.

    Raises:
        NotDone: the total would exceed the study's limit, or there is nothing to approve; nothing was changed.
    """
    approvable = LedgerRow.objects.filter(study=study, pk__in=rows, state__in=APPROVABLE)
    try:
        fees = fees_of(approvable)
    except Unreachable as error:
        raise NotDone(_("Fees unavailable: {why}").format(why=error)) from None
    with transaction.atomic():
        limits = {
            currency: _locked_limit(study, currency)
            for currency in sorted(set(approvable.values_list("currency", flat=True)))
        }
        approvable_rows = [row for row in _locked(study, fees) if row.state in APPROVABLE]
        sums: dict[str, Sums] = {}
        for row in approvable_rows:
            sums.setdefault(row.currency, Sums()).add(row, fees[row.pk])
        for currency, currency_sums in sums.items():
            _refuse_beyond(limits[currency], currency_sums)
        if not approvable_rows:
            raise NotDone(_("None of these payments is waiting for approval any longer."))
        for row in approvable_rows:
            row.fee = fees[row.pk]
            post(row, to=State.APPROVED, user=user, why=_("approved"))
        _reset_transfers(approvable_rows)
    return sums


def _reset_transfers(rows: Collection[LedgerRow]) -> None:
    """Reset the transfers of these locked rows, so that payment starts over."""
    existing = Transfer.objects.filter(row__in=[row.pk for row in rows])
    existing_keys = set(existing.values_list("row", flat=True))
    existing.update(**_reset_fields())
    Transfer.objects.bulk_create(Transfer(row=row, **_reset_fields()) for row in rows if row.pk not in existing_keys)


def _refuse_beyond(limit: Limit, sums: Sums) -> None:
    so_far = committed(limit.study, limit.currency)
    if limit.most is not None and so_far + sums.total > limit.most:
        raise NotDone(
            _(
                "The total would be {total} {currency} with fees ({wanted} on top of {so_far} already approved or "
                "paid), but the study's limit is {limit} {currency}. Nothing was approved."
            ).format(
                total=so_far + sums.total, wanted=sums.total, so_far=so_far, limit=limit.most, currency=limit.currency
            )
        )


def withdraw(*, study: str, rows: Collection[int], user: Any) -> int:
    """Withdraw the approval of rows not sent yet; return how many."""

    def undo(row: LedgerRow) -> None:
        post(row, to=State.DUE, user=user, why=_("approval withdrawn"))
        Transfer.objects.filter(row=row).update(**_reset_fields())

    return _apply_to_each(study, rows, lambda row: row.state == State.APPROVED, undo)


# ---- by hand ---------------------------------------------------------------------------------------


def mark_paid(*, study: str, rows: Collection[int], user: Any, note: str) -> int:
    """Mark rows as paid outside Parley; return how many.

    Approved rows are included only if Parley does not pay that kind of recruiter, because others could be in payment at
    this moment.

    Raises:
        NotDone: the note is missing.
    """
    note = _required_note(note)
    return _apply_to_each(
        study, rows, may_be_marked_paid, lambda row: post(row, to=State.CONFIRMED, user=user, why=note)
    )


def may_be_marked_paid(row: LedgerRow) -> bool:
    return row.state == State.FAILED or (row.state == State.APPROVED and is_by_hand(row))


def write_off(*, study: str, rows: Collection[int], user: Any, reason: str, rejected: bool = False) -> int:
    """Write off due or failed rows, which are then never paid; return how many.

    Args:
        rejected: because the work was rejected.

    Raises:
        NotDone: the reason is missing.
    """
    reason = _required_note(reason)
    return _apply_to_each(
        study,
        rows,
        may_be_written_off,
        lambda row: post(row, to=State.WRITTEN_OFF, user=user, why=reason, rejected=rejected),
    )


@transaction.atomic
def reject(*, study: str, person: Enrolment, user: Any, reason: str) -> int:
    """Write off everything that is due to a person whose work is not accepted; return the number of rows.

    Raises:
        NotDone: the reason is missing, or nothing can be rejected any longer.
    """
    keys = list(LedgerRow.objects.filter(study=study, enrolment=person).values_list("pk", flat=True))
    if any(row.state in COMMITTED for row in _locked(study, keys)):
        raise NotDone(
            _("They are being paid. Withdraw the approval first; what has been sent can no longer be rejected.")
        )
    count = write_off(study=study, rows=keys, user=user, reason=reason, rejected=True)
    if not count:
        raise NotDone(_("No payment is due to them, so there is nothing to reject."))
    return count


def may_be_written_off(row: LedgerRow) -> bool:
    return row.state in APPROVABLE


def put_back(*, study: str, rows: Collection[int], user: Any, reason: str) -> int:
    """Make rows due again that were written off or marked as paid in error; return how many.

    Raises:
        NotDone: the reason is missing.
    """
    reason = _required_note(reason)
    return _apply_to_each(study, rows, may_be_put_back, lambda row: post(row, to=State.DUE, user=user, why=reason))


def may_be_put_back(row: LedgerRow) -> bool:
    return row.state == State.WRITTEN_OFF or (row.state == State.CONFIRMED and row.by_hand)


def resolve(*, study: str, row: int, paid: bool, user: Any, note: str) -> None:
    """Record whether an unclear row was paid, after a user checked with the recruiter.

    A row that was not paid becomes failed and may be approved again.

    Raises:
        NotDone: the note is missing, or the row is no longer unclear.
    """
    note = _required_note(note)
    not_paid = _("Checked by hand: not paid.")
    count = _apply_to_each(
        study,
        [row],
        lambda unclear: unclear.state == State.UNCLEAR,
        lambda unclear: post(
            unclear,
            to=State.CONFIRMED if paid else State.FAILED,
            user=user,
            why=note,
            problem="" if paid else f"{not_paid} {note}",
        ),
    )
    if not count:
        raise NotDone(_("This payment is no longer unclear: someone has resolved it."))


def _required_note(note: str) -> str:
    note = " ".join(note.split())
    if not note:
        raise NotDone(_("Give a short reason; it is kept in the journal."))
    if len(note) > 250:
        raise NotDone(_("Use at most 250 characters."))
    return note


# ---- locks -----------------------------------------------------------------------------------------


@transaction.atomic
def _apply_to_each(
    study: str, keys: Collection[int], applies: Callable[[LedgerRow], bool], act: Callable[[LedgerRow], Any]
) -> int:
    rows = [row for row in _locked(study, keys) if applies(row)]
    for row in rows:
        act(row)
    return len(rows)


def _locked(study: str, keys: Collection[int]) -> list[LedgerRow]:
    """Lock rows in the order of their keys, so that two users who act on the same rows cannot deadlock."""
    return list(LedgerRow.objects.select_for_update().filter(study=study, pk__in=keys).order_by("pk"))


def _locked_limit(study: str, currency: str) -> Limit:
    Limit.objects.get_or_create(study=study, currency=currency)
    return Limit.objects.select_for_update().get(study=study, currency=currency)


def _reset_fields() -> dict[str, Any]:
    now = timezone.now()
    return {
        "reference": "", "asked_at": None, "accepted": False, "holder": "", "until": now, "next_at": now, "failures": 0,
    }  # fmt: skip
