"""What people decide about ledger rows: approve, withdraw, write off, mark as paid, resolve, put back, limit.

Each act locks what it changes, does all of it or nothing, and says who did it in the journal. A row that is
not where the act begins any more (a second click, a colleague's) is left as it is.
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

from payouts import paying
from payouts.models import LedgerRow, Limit, Transfer
from payouts.payers import Payer, Unreachable, method_of
from payouts.posting import post
from payouts.rules import cents
from recruiters.models import Identity

State = LedgerRow.State
ZERO = Decimal("0.00")
APPROVABLE = (State.DUE, State.FAILED)
COMMITTED = (State.APPROVED, State.SENT, State.CONFIRMED, State.UNCLEAR)
"""What counts against a study's limit: all that is or may be paid."""


class NotDone(Exception):
    """Why nothing was changed, for whoever asked."""


@dataclass
class Sums:
    """Of rows in one currency, in that currency."""

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
    """Whether people of this row's recruiter are paid outside Parley, by the researcher."""
    method = method_of(row.recruiter)
    return row.state != State.ELSEWHERE and (method is None or method.payer is None)


# ---- approving -------------------------------------------------------------------------------------


def fees_of(rows: Iterable[LedgerRow]) -> dict[int, Decimal | None]:
    """What the recruiters take beside each amount, by the row's key; None where nobody here pays, or knows.

    Raises:
        Unreachable: an account cannot be asked.
    """
    found = list(rows)
    identities = {
        one.enrolment_id: one for one in Identity.objects.filter(enrolment__in={r.enrolment_id for r in found})
    }
    payers: dict[tuple[str, str], Payer | None] = {}
    fees: dict[int, Decimal | None] = {}
    for row in found:
        key = (row.recruiter, row.study)
        if key not in payers:
            payers[key] = paying.payer_of(row)
        payer, identity = payers[key], identities.get(row.enrolment_id)
        fees[row.pk] = paying.fee_of(row, payer, identity) if payer is not None and identity is not None else None
    return fees


def committed(study: str, currency: str) -> Decimal:
    """What is paid or approved to be, fees included."""
    rows = LedgerRow.objects.filter(study=study, currency=currency, state__in=COMMITTED)
    sums = rows.aggregate(amount=Coalesce(Sum("amount"), ZERO), fee=Coalesce(Sum("fee"), ZERO))
    return cents(sums["amount"] + sums["fee"])


def limit_of(study: str, currency: str) -> Decimal | None:
    """The most that may be paid in this study and currency; None without a limit."""
    return Limit.objects.filter(study=study, currency=currency).values_list("most", flat=True).first()


def set_limit(*, study: str, currency: str, most: Decimal | None) -> None:
    """Say how much may be paid at most; None takes the limit away.

    Raises:
        NotDone: more than that is committed already.
    """
    with transaction.atomic():
        limit = _locked_limit(study, currency)
        if most is not None and most < (so_far := committed(study, currency)):
            says = _("{so_far} {currency} are approved or paid already; the limit cannot be lower.")
            raise NotDone(says.format(so_far=so_far, currency=currency))
        limit.most = most
        limit.save(update_fields=["most"])


def approve(*, study: str, rows: Collection[int], who: Any) -> dict[str, Sums]:
    """Approve what is due or failed among the rows with these keys; what was approved, by currency.

    Raises:
        NotDone: it would go beyond the study's limit, or nothing is there to be approved; nothing was changed.
    """
    wanted = LedgerRow.objects.filter(study=study, pk__in=rows, state__in=APPROVABLE)
    try:
        fees = fees_of(wanted)
    except Unreachable as error:
        raise NotDone(_("Fees unavailable: {why}").format(why=error)) from None
    with transaction.atomic():
        limits = {one: _locked_limit(study, one) for one in sorted(set(wanted.values_list("currency", flat=True)))}
        found = [row for row in _locked(study, fees) if row.state in APPROVABLE]
        sums: dict[str, Sums] = {}
        for row in found:
            sums.setdefault(row.currency, Sums()).add(row, fees[row.pk])
        for currency, of_these in sums.items():
            _refuse_beyond(limits[currency], of_these)
        if not found:
            raise NotDone(_("None of these is waiting to be approved any more."))
        for row in found:
            row.fee = fees[row.pk]
            post(row, to=State.APPROVED, who=who, why=_("approved"))
        _begin_anew(found)
    return sums


def _begin_anew(rows: Collection[LedgerRow]) -> None:
    """How far the paying of these locked rows has come: nowhere."""
    before = Transfer.objects.filter(row__in=[row.pk for row in rows])
    known = set(before.values_list("row", flat=True))
    before.update(**_fresh())
    Transfer.objects.bulk_create(Transfer(row=row, **_fresh()) for row in rows if row.pk not in known)


def _refuse_beyond(limit: Limit, sums: Sums) -> None:
    so_far = committed(limit.study, limit.currency)
    if limit.most is not None and so_far + sums.total > limit.most:
        raise NotDone(
            _(
                "That would be {total} {currency} with fees ({wanted} on top of {so_far} approved or paid before), "
                "and the study's limit is {limit} {currency}. Nothing was approved."
            ).format(
                total=so_far + sums.total, wanted=sums.total, so_far=so_far, limit=limit.most, currency=limit.currency
            )
        )


def withdraw(*, study: str, rows: Collection[int], who: Any) -> int:
    """Take approvals back of what was not sent yet; returns how many."""

    def undo(row: LedgerRow) -> None:
        post(row, to=State.DUE, who=who, why=_("approval withdrawn"))
        Transfer.objects.filter(row=row).update(**_fresh())

    return _each(study, rows, lambda row: row.state == State.APPROVED, undo)


# ---- by hand ---------------------------------------------------------------------------------------


def mark_paid(*, study: str, rows: Collection[int], who: Any, note: str) -> int:
    """Say that rows were paid outside Parley; returns how many.

    Approved ones only where nobody here pays that kind of recruiter: others could be paid at this moment.

    Raises:
        NotDone: there is no note.
    """
    note = _needed(note)
    return _each(study, rows, may_be_marked_paid, lambda row: post(row, to=State.CONFIRMED, who=who, why=note))


def may_be_marked_paid(row: LedgerRow) -> bool:
    return row.state == State.FAILED or (row.state == State.APPROVED and is_by_hand(row))


def write_off(*, study: str, rows: Collection[int], who: Any, reason: str) -> int:
    """Say that what is due or failed will never be paid, and why; returns how many.

    Raises:
        NotDone: there is no reason.
    """
    reason = _needed(reason)
    return _each(
        study,
        rows,
        lambda row: row.state in APPROVABLE,
        lambda row: post(row, to=State.WRITTEN_OFF, who=who, why=reason),
    )


def may_be_written_off(row: LedgerRow) -> bool:
    return row.state in APPROVABLE


def put_back(*, study: str, rows: Collection[int], who: Any, reason: str) -> int:
    """Correct what was written off or marked as paid by hand in error: it is due again; returns how many.

    Raises:
        NotDone: there is no reason.
    """
    reason = _needed(reason)
    return _each(study, rows, may_be_put_back, lambda row: post(row, to=State.DUE, who=who, why=reason))


def may_be_put_back(row: LedgerRow) -> bool:
    return row.state == State.WRITTEN_OFF or (row.state == State.CONFIRMED and row.by_hand)


def resolve(*, study: str, row: int, paid: bool, who: Any, note: str) -> None:
    """Say whether an unclear row was paid, as a person found out at the recruiter.

    Not paid: it is failed, and may be approved again.

    Raises:
        NotDone: there is no note, or it is unclear no more.
    """
    note = _needed(note)
    not_paid = _("Looked up by hand: not paid.")
    done = _each(
        study,
        [row],
        lambda one: one.state == State.UNCLEAR,
        lambda one: post(
            one,
            to=State.CONFIRMED if paid else State.FAILED,
            who=who,
            why=note,
            problem="" if paid else f"{not_paid} {note}",
        ),
    )
    if not done:
        raise NotDone(_("It is no longer unclear; somebody has resolved it."))


def _needed(words: str) -> str:
    words = " ".join(words.split())
    if not words:
        raise NotDone(_("Say why in a few words: it is kept in the journal."))
    if len(words) > 250:
        raise NotDone(_("Say it in at most 250 characters."))
    return words


# ---- locks -----------------------------------------------------------------------------------------


@transaction.atomic
def _each(
    study: str, keys: Collection[int], applies: Callable[[LedgerRow], bool], act: Callable[[LedgerRow], Any]
) -> int:
    rows = [row for row in _locked(study, keys) if applies(row)]
    for row in rows:
        act(row)
    return len(rows)


def _locked(study: str, keys: Collection[int]) -> list[LedgerRow]:
    """In the order of their keys, so that two people who act on the same rows wait for each other."""
    return list(LedgerRow.objects.select_for_update().filter(study=study, pk__in=keys).order_by("pk"))


def _locked_limit(study: str, currency: str) -> Limit:
    Limit.objects.get_or_create(study=study, currency=currency)
    return Limit.objects.select_for_update().get(study=study, currency=currency)


def _fresh() -> dict[str, Any]:
    now = timezone.now()
    return {
        "reference": "", "asked_at": None, "accepted": False, "holder": "", "until": now, "next_at": now, "failures": 0,
    }  # fmt: skip
