"""Paying what was approved: each step is written down before the next, so that a crash pays nobody twice.

A row is worked on under a lease. Until it is marked as sent, nothing has moved and the next worker begins
again. It is marked before the recruiter is asked to pay; whoever finds a marked row without an answer asks
what became of it, and asks to pay again only where that cannot pay twice.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, cast

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

import leasing
from payouts import payers
from payouts.models import LedgerRow, Transfer
from payouts.payers import Answer, AssignmentStatus, BulkPayer, Order, Outcome, Payer, Unreachable
from payouts.posting import locked, post
from recruiters.models import Identity

log = logging.getLogger(__name__)
State = LedgerRow.State

LEASE = timedelta(seconds=settings.PAY_LEASE_SECONDS)
"""How long one worker has a row for itself. No call of a payer takes as long as half of it."""
TO_BEGIN = LEASE / 2
"""After this long a worker no longer asks to pay: its lease might run out while the recruiter is busy."""
SETTLING = timedelta(seconds=settings.PAY_SETTLING_SECONDS)
"""How long an order without an answer rests before anybody asks what became of it: it may still be on its way."""
FIRST_WAIT = timedelta(seconds=settings.PAY_WAIT_SECONDS)
LONGEST_WAIT = timedelta(minutes=30)
NO_ANSWER_FOR = timedelta(days=1)
"""After this long without a word about an order, a person looks it up."""
NOT_CONFIRMED_FOR = timedelta(days=7)
"""The same for an order that was taken and never confirmed."""
AT_ONCE = 25
LARGEST_SWEEP = 500
"""Rows that one sweep looks at."""
BULK_FROM = 5
"""Fewer rows are paid one by one: their recruiter answers at once, and a group is only looked up later."""
BUDGET = timedelta(seconds=60)
"""What one sweep does at most, before the next goes on."""

IN_ORDER = {AssignmentStatus.SUBMITTED, AssignmentStatus.APPROVED}


class _Lost(Exception):
    """The lease is somebody else's, or the row is no longer where it was: nothing more is written."""


@dataclass
class _Work:
    """One row in the hands of this worker."""

    transfer: Transfer
    row: LedgerRow
    holder: str
    began: datetime

    @property
    def late(self) -> bool:
        return timezone.now() - self.began > TO_BEGIN


# ---- what the sweep and its task call --------------------------------------------------------------


def pay_due(*, most: int = AT_ONCE) -> int:
    """Work on the rows whose time has come, oldest first; returns how many. Any number may run at once.

    Args:
        most: rows that are worked on alone, and groups of rows.
    """
    until = time.monotonic() + BUDGET.total_seconds()
    worked = 0
    for group in _groups(_waiting(LARGEST_SWEEP))[:most]:
        if time.monotonic() > until:
            break
        worked += _pay_group(group) if len(group) > 1 else pay_row(group[0])
    return worked


def pay_row(pk: int) -> bool:
    """Bring one approved or sent row as far as it goes now; False where somebody else has it or it must wait.

    Everything that goes wrong is kept at the row; nothing is raised.
    """
    work = _take(pk)
    if work is None:
        return False
    identity = Identity.objects.filter(enrolment=work.row.enrolment_id).first()
    with _kept_at(work, identity):
        _advance(work, identity)
    return True


@contextmanager
def _kept_at(work: _Work, identity: Identity | None) -> Iterator[None]:
    """Keep whatever goes wrong with a row at the row."""
    try:
        yield
    except _Lost:
        log.info("ledger row %s: somebody else goes on with it", work.row.uid)
    except Unreachable as error:
        _later(work, scrubbed(str(error), identity))
    except Exception as error:  # noqa: BLE001  (a payer's fault must not stop the others' pay)
        log.error("paying ledger row %s failed: %s", work.row.uid, type(error).__name__)
        _later(work, _("It failed with {error}; the server's log says when.").format(error=type(error).__name__))


def _waiting(most: int) -> list[LedgerRow]:
    now = timezone.now()
    rows = LedgerRow.objects.filter(
        state__in=(State.APPROVED, State.SENT),
        recruiter__in=payers.kinds_that_pay(),
        transfer__next_at__lte=now,
        transfer__until__lte=now,
    )
    rows = rows.exclude(state=State.APPROVED, reason="bonus", enrolment__in=_with_base_in_progress())
    return list(rows.order_by("transfer__next_at", "enrolment_id", "reason")[:most])


def _groups(rows: Sequence[LedgerRow]) -> list[list[int]]:
    """Return the keys of rows that are paid together, in the order of the first of each group."""
    found: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        found.setdefault((row.study, row.recruiter, row.reason, row.state), []).append(row.pk)
    groups: list[list[int]] = []
    for (_study, recruiter, _reason, _state), keys in found.items():
        method = payers.method_of(recruiter)
        size = method.bulk_size if method is not None and len(keys) >= BULK_FROM else 1
        groups += [keys[at : at + size] for at in range(0, len(keys), size)]
    first = {row.pk: place for place, row in enumerate(rows)}
    return sorted(groups, key=lambda group: first[group[0]])


def _take(pk: int) -> _Work | None:
    holder, now = uuid.uuid4().hex, timezone.now()
    free = Transfer.objects.filter(
        row=pk,
        row__state__in=(State.APPROVED, State.SENT),
        next_at__lte=now,
        until__lte=now,
    ).exclude(row__state=State.APPROVED, row__reason="bonus", row__enrolment__in=_with_base_in_progress())
    # One statement, so that of two workers one has it.
    if not leasing.take(Transfer.objects.filter(pk__in=free.values("pk")), holder, LEASE):
        return None
    transfer = Transfer.objects.select_related("row").get(row=pk)
    return _Work(transfer, transfer.row, holder, began=now) if transfer.holder == holder else None


def _with_base_in_progress() -> QuerySet[Any]:
    """People whose base pay is on its way: their bonus waits for it."""
    in_progress = LedgerRow.objects.filter(reason="base", state__in=(State.APPROVED, State.SENT, State.UNCLEAR))
    return in_progress.order_by().values("enrolment")


# ---- many rows at once -----------------------------------------------------------------------------


@dataclass
class _Member:
    """One row of a group, with its order."""

    work: _Work
    identity: Identity
    order: Order


def _pay_group(keys: Sequence[int]) -> int:
    """Bring rows of one study, recruiter, reason and state as far as they go now; returns how many.

    The steps and their order are those of one row, so that after a crash each row goes on alone.
    """
    works = [work for key in keys if (work := _take(key)) is not None]
    identities = Identity.objects.filter(enrolment__in=[work.row.enrolment_id for work in works])
    people = {identity.enrolment_id: identity for identity in identities}
    members = []
    for work in works:
        identity = people.get(work.row.enrolment_id)
        if identity is None:
            with _kept_at(work, None):
                _settle_without_identity(work)
        else:
            members.append(_Member(work, identity, order_of(work.row, identity, reference=work.transfer.reference)))
    if not members:
        return len(works)
    try:
        payer = cast("BulkPayer", payer_of(members[0].work.row))
        payer.read([one.order for one in members])
        begun = _pay_together(payer, members) if members[0].work.row.state == State.APPROVED else set()
    except Exception as error:  # nothing was sent; it is kept at each row
        for one in members:
            with _kept_at(one.work, one.identity):
                raise error
        return len(works)
    for one in members:
        if one.order.uid not in begun:
            with _kept_at(one.work, one.identity):
                _go_on(one.work, payer, one.order, one.identity)
    return len(works)


def _pay_together(payer: BulkPayer, members: Sequence[_Member]) -> set[uuid.UUID]:
    """Prepare and pay what the payer takes together; returns the orders that were begun. Raises before any is sent."""
    ready = [one for one in members if payer.assignment_status(one.order) in IN_ORDER]
    references = payer.prepare_all([one.order for one in ready])
    ready = [one for one in ready if one.order.uid in references and not one.work.late]
    for one in ready:
        with _kept_at(one.work, one.identity):
            reference = references[one.order.uid]
            _mark_sent(one.work, reference=reference)
            one.order = order_of(one.work.row, one.identity, reference=reference)
    sent = [one for one in ready if one.work.row.state == State.SENT]
    try:
        answers = payer.pay_all([one.order for one in sent]) if sent and not sent[0].work.late else {}
    except Exception as error:  # noqa: BLE001  (whatever it was, nobody knows whether they are paid)
        for one in sent:
            _unanswered(one.work, one.identity, error)
        return {one.order.uid for one in ready}
    for one in sent:
        with _kept_at(one.work, one.identity):
            if (answer := answers.get(one.order.uid)) is not None:
                _keep(one.work, answer, one.identity)
            else:  # certainly not paid with the others
                _ask(one.work, payer, one.order, one.identity)
    return {one.order.uid for one in ready}


# ---- the steps -------------------------------------------------------------------------------------


def _advance(work: _Work, identity: Identity | None) -> None:
    if identity is None:
        _settle_without_identity(work)
        return
    payer = payer_of(work.row)
    if payer is None:
        _later(
            work, _("Nobody pays for this kind of recruiter here any more. Mark it as paid by hand, or withdraw it.")
        )
        return
    _go_on(work, payer, order_of(work.row, identity, reference=work.transfer.reference), identity)


def _go_on(work: _Work, payer: Payer, order: Order, identity: Identity) -> None:
    if work.row.state == State.APPROVED:
        begun = _begin(work, payer, order, identity)
        if begun is not None:
            _ask(work, payer, begun, identity)
    else:
        _find_out(work, payer, order, identity)


def _begin(work: _Work, payer: Payer, order: Order, identity: Identity) -> Order | None:
    """Check and prepare; marks the row as sent and returns the order, or None where it does not go on now."""
    status = payer.assignment_status(order)
    if status == AssignmentStatus.WORKING:
        _later(work, waits_for(status))
        return None
    if status not in IN_ORDER:
        _end(work, State.FAILED, wrong_with(status))
        return None
    if not order.reference:
        reference = payer.prepare(order)
        with _still_mine(work):
            Transfer.objects.filter(pk=work.transfer.pk).update(reference=reference)
        order = order_of(work.row, identity, reference=reference)
    if work.late:
        _later(work, _("The recruiter answers slowly; it is tried again."))
        return None
    _mark_sent(work)
    return order


def _mark_sent(work: _Work, **kept: Any) -> None:
    """Write down that the recruiter is about to be asked, before it is; `kept` goes to the transfer."""
    with _still_mine(work) as row:
        post(row, to=State.SENT, why=_("asked the recruiter to pay"))
        told = {"asked_at": timezone.now(), "accepted": False, "failures": 0}
        Transfer.objects.filter(pk=work.transfer.pk).update(**told, **kept)
    work.row.state = State.SENT


def _ask(work: _Work, payer: Payer, order: Order, identity: Identity) -> None:
    """Ask to pay, the row being marked as sent."""
    if work.late:
        _later(work, _("The recruiter answers slowly; it is tried again."))
        return
    try:
        answer = payer.pay(order)
    except Exception as error:  # noqa: BLE001  (whatever it was, nobody knows whether it is paid)
        _unanswered(work, identity, error)
        return
    _keep(work, answer, identity)


def _unanswered(work: _Work, identity: Identity, error: Exception) -> None:
    """Let an order that was sent rest, and be looked up before anything else happens."""
    if isinstance(error, Unreachable):
        says = _("No answer: {why} It is looked up before anything else happens.")
        says = says.format(why=scrubbed(str(error), identity))
    else:
        log.error("paying ledger row %s failed: %s", work.row.uid, type(error).__name__)
        says = _("No answer that makes sense. It is looked up before anything else happens.")
    _later(work, says, at_least=SETTLING)


def _find_out(work: _Work, payer: Payer, order: Order, identity: Identity) -> None:
    """What became of an order that was sent; asks to pay again only where that cannot pay twice."""
    transfer = work.transfer
    rested = timezone.now() - (transfer.asked_at or work.row.sent_at or work.row.created_at)
    if not transfer.accepted and rested < SETTLING:
        _later(work, work.row.problem, wait=SETTLING - rested)
        return
    answer = payer.look_up(order)
    may_ask_again = answer.outcome == Outcome.NOT_FOUND or (answer.outcome == Outcome.UNCLEAR and payer.may_repeat)
    if may_ask_again and not transfer.accepted:
        with _still_mine(work):
            Transfer.objects.filter(pk=transfer.pk).update(asked_at=timezone.now())
        _ask(work, payer, order, identity)
    else:
        _keep(work, answer, identity)


def _keep(work: _Work, answer: Answer, identity: Identity) -> None:
    """Write down what the recruiter says of an order that was sent."""
    reason = scrubbed(answer.reason, identity)
    if answer.outcome == Outcome.CONFIRMED:
        _end(work, State.CONFIRMED, "", why=reason or _("the recruiter says that it is paid"))
    elif answer.outcome == Outcome.REFUSED:
        _end(work, State.FAILED, reason or _("The recruiter refused it without saying why."))
    elif answer.outcome == Outcome.SENT:
        if _too_old(work.transfer, NOT_CONFIRMED_FOR):
            _end(work, State.UNCLEAR, _unconfirmed())
        else:
            Transfer.objects.filter(pk=work.transfer.pk, holder=work.holder).update(accepted=True)
            work.transfer.accepted = True
            _later(work, reason or _("The recruiter has taken it; it is asked until it confirms."))
    elif answer.outcome == Outcome.QUEUED:
        _later(work, reason, at_least=SETTLING)
    else:
        unclear = _("It cannot be told whether it was paid.")
        _end(work, State.UNCLEAR, f"{unclear} {reason}".strip())


def _settle_without_identity(work: _Work) -> None:
    erased = _("This person was erased, so that nobody knows any more whom to pay.")
    _end(work, State.FAILED if work.row.state == State.APPROVED else State.UNCLEAR, erased)


# ---- writing down ----------------------------------------------------------------------------------


@contextmanager
def _still_mine(work: _Work) -> Iterator[LedgerRow]:
    """A transaction with the row locked, if it is still in this worker's hands and where this worker left it."""
    with transaction.atomic():
        row = locked(work.row.pk)
        mine = Transfer.objects.filter(pk=work.transfer.pk, holder=work.holder).exists()
        if not mine or row.state != work.row.state:
            raise _Lost
        yield row


def _end(work: _Work, to: str, problem: str, *, why: str = "") -> None:
    with _still_mine(work) as row:
        post(row, to=to, why=why or problem, problem=problem)
        Transfer.objects.filter(pk=work.transfer.pk).update(holder="", until=timezone.now(), failures=0)


def _later(work: _Work, problem: str, *, wait: timedelta | None = None, at_least: timedelta = timedelta(0)) -> None:
    """Free the row, to be looked at again after a while that doubles each time; or let a person look it up."""
    waited = work.transfer.failures
    wait = wait if wait is not None else max(min(FIRST_WAIT * 2 ** min(waited, 10), LONGEST_WAIT), at_least)
    try:
        with _still_mine(work) as row:
            if row.state == State.SENT and (silent := _silent_too_long(work.transfer)):
                post(row, to=State.UNCLEAR, why=problem, problem=f"{silent} {problem}")
            else:
                LedgerRow.objects.filter(pk=row.pk).update(problem=problem[:300])
            now = timezone.now()
            Transfer.objects.filter(pk=work.transfer.pk).update(
                holder="", until=now, next_at=now + wait, failures=F("failures") + 1
            )
    except _Lost:
        log.info("ledger row %s: somebody else goes on with it", work.row.uid)


def _silent_too_long(transfer: Transfer) -> str:
    """Why a person has to look up an order that the recruiter tells nothing about; empty while there is time."""
    if transfer.accepted:
        return _unconfirmed() if _too_old(transfer, NOT_CONFIRMED_FOR) else ""
    return _("The recruiter has not answered for a day.") if _too_old(transfer, NO_ANSWER_FOR) else ""


def _unconfirmed() -> str:
    return _("The recruiter took it a week ago and has not confirmed it since.")


def _too_old(transfer: Transfer, most: timedelta) -> bool:
    return bool(transfer.row.sent_at and timezone.now() - transfer.row.sent_at > most)


# ---- orders, and what the recruiter says in words --------------------------------------------------


def payer_of(row: LedgerRow) -> Payer | None:
    """Who pays the people of this row's study and recruiter; None where nobody here does. May raise Unreachable."""
    method = payers.method_of(row.recruiter)
    return method.payer(row.study) if method is not None and method.payer is not None else None


def order_of(row: LedgerRow, identity: Identity, *, reference: str = "") -> Order:
    """The row as its recruiter is asked to pay it."""
    return Order(
        uid=row.uid,
        reason=row.reason,
        amount=row.amount,
        currency=row.currency,
        worker=identity.worker,
        details=identity.details,
        message=_("Thank you for taking part. This is your bonus.")
        if row.reason == "bonus"
        else _("Thank you for taking part."),
        reference=reference,
    )


def fee_of(row: LedgerRow, payer: Payer, identity: Identity) -> Decimal:
    """What the recruiter takes beside the amount. May raise Unreachable."""
    return payer.fee(order_of(row, identity)).quantize(Decimal("0.01"))


def waits_for(status: AssignmentStatus) -> str:
    """Why somebody who is approved is not paid yet."""
    return _("They have not handed in at their recruiter yet; it is paid as soon as they have.")


def wrong_with(status: AssignmentStatus) -> str:
    """Why somebody is not paid, from what the recruiter says of their assignment."""
    return {
        AssignmentStatus.REJECTED: _("Their assignment was rejected at the recruiter."),
        AssignmentStatus.RETURNED: _("They gave their assignment back at the recruiter."),
        AssignmentStatus.TIMED_OUT: _("Their time at the recruiter ran out before they handed in."),
        AssignmentStatus.UNKNOWN: _("The recruiter knows no such assignment."),
        AssignmentStatus.SOMEBODY_ELSE: _(
            "The recruiter says that the assignment is somebody else's, or another study's."
        ),
    }.get(status, _("The recruiter says something that nobody here understands."))


def scrubbed(text: str, identity: Identity | None) -> str:
    """A recruiter's words without this worker's identifiers."""
    told = [identity.worker, identity.proof, *map(str, identity.details.values())] if identity is not None else []
    for identifier in sorted({one for one in told if len(one) > 3}, key=len, reverse=True):
        text = text.replace(identifier, "•••")
    return text[:300]
