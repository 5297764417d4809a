"""Pay approved rows. Each step is saved before the next, so that a crash pays nobody twice.

A worker process holds a lease on the row. Until the row is marked as sent, no money has moved, and the next process
starts over. The row is marked before the recruiter is asked to pay; a process that finds a marked row without an answer
looks the order up, and pays again only if that cannot pay twice.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

import leasing
from payouts import payers
from payouts.models import LedgerRow, Transfer
from payouts.payers import Answer, AssignmentStatus, Order, Outcome, Payer, Unreachable
from payouts.posting import locked, post
from recruiters.models import Identity

log = logging.getLogger(__name__)
State = LedgerRow.State

LEASE = timedelta(seconds=settings.PAY_LEASE_SECONDS)
"""How long a process's lease on a row lasts. Every call to a payer takes less than half as long."""
START_WITHIN = LEASE / 2
"""After this long, a process no longer starts a payment, because its lease might expire during the call."""
SETTLING = timedelta(seconds=settings.PAY_SETTLING_SECONDS)
"""How long to wait before looking up an order without an answer, which may still arrive at the recruiter."""
FIRST_WAIT = timedelta(seconds=settings.PAY_WAIT_SECONDS)
LONGEST_WAIT = timedelta(minutes=30)
ANSWER_TIMEOUT = timedelta(days=1)
"""After this long without an answer, a person has to look the order up."""
CONFIRMATION_TIMEOUT = timedelta(days=7)
"""The same for an order that was accepted but never confirmed."""
GROUPS_PER_SWEEP = 25
LARGEST_SWEEP = 500
"""Rows that one sweep reads."""
BULK_FROM = 5
"""Smaller groups are paid row by row, because recruiters answer single orders at once but grouped ones only at
look-up.
"""
BUDGET = timedelta(seconds=60)
"""One sweep ends after AT_ONCE groups of rows or after this long; the next continues."""

PAYABLE_STATUSES = {AssignmentStatus.SUBMITTED, AssignmentStatus.APPROVED}


class _LostLease(Exception):
    """Raised if another process holds the lease or the row changed state; nothing more is written."""


@dataclass
class _Work:
    """One row leased to this process."""

    transfer: Transfer
    row: LedgerRow
    holder: str
    taken_at: datetime

    @property
    def late(self) -> bool:
        return timezone.now() - self.taken_at > START_WITHIN


# ---- what the sweep and its task call --------------------------------------------------------------


def pay_due(*, max_groups: int = GROUPS_PER_SWEEP) -> int:
    """Process the rows that are due, oldest first; return how many. Safe to run concurrently.

    Args:
        max_groups: the most groups of rows; a row processed alone counts as one.
    """
    deadline = time.monotonic() + BUDGET.total_seconds()
    count = 0
    for group in _groups(_waiting(LARGEST_SWEEP))[:max_groups]:
        if time.monotonic() > deadline:
            break
        count += _pay_group(group)
    return count


def pay_row(pk: int) -> bool:
    """Process one approved or sent row as far as possible; return False if another process has it or it must wait.

    Errors are saved in the row; nothing is raised.
    """
    return bool(_pay_group([pk]))


@contextmanager
def _saving_errors(work: _Work, identity: Identity | None) -> Iterator[None]:
    """Save errors in the row instead of raising them."""
    try:
        yield
    except _LostLease:
        log.info("ledger row %s: another process continues", work.row.uid)
    except Unreachable as error:
        _retry_later(work, scrubbed(str(error), identity))
    except Exception as error:  # noqa: BLE001  (one payer's error must not stop the others)
        log.error("paying ledger row %s failed: %s", work.row.uid, type(error).__name__)
        _retry_later(work, _("Failed with {error}; see the server's log.").format(error=type(error).__name__))


def _waiting(max_rows: int) -> list[LedgerRow]:
    now = timezone.now()
    rows = LedgerRow.objects.filter(
        state__in=(State.APPROVED, State.SENT),
        recruiter__in=payers.kinds_that_pay(),
        transfer__next_at__lte=now,
        transfer__until__lte=now,
    )
    rows = rows.exclude(state=State.APPROVED, reason="bonus", enrolment__in=_with_base_in_progress())
    return list(rows.order_by("transfer__next_at", "enrolment_id", "reason")[:max_rows])


def _groups(rows: Sequence[LedgerRow]) -> list[list[int]]:
    """Return the keys of rows that are paid together, in the order of the first of each group."""
    keys_by_group: dict[tuple[str, ...], list[int]] = {}
    for row in rows:
        keys_by_group.setdefault((row.study, row.recruiter, row.reason, row.state), []).append(row.pk)
    groups: list[list[int]] = []
    for (_study, recruiter, _reason, _state), keys in keys_by_group.items():
        method = payers.method_of(recruiter)
        size = method.bulk_size if method is not None and len(keys) >= BULK_FROM else 1
        groups += [keys[start : start + size] for start in range(0, len(keys), size)]
    positions = {row.pk: position for position, row in enumerate(rows)}
    return sorted(groups, key=lambda group: positions[group[0]])


def _lease_row(pk: int) -> _Work | None:
    holder, now = uuid.uuid4().hex, timezone.now()
    free = Transfer.objects.filter(
        row=pk,
        row__state__in=(State.APPROVED, State.SENT),
        next_at__lte=now,
        until__lte=now,
    ).exclude(row__state=State.APPROVED, row__reason="bonus", row__enrolment__in=_with_base_in_progress())
    # A single statement, so that only one of two processes gets the row.
    if not leasing.take(Transfer.objects.filter(pk__in=free.values("pk")), holder, LEASE):
        return None
    transfer = Transfer.objects.select_related("row").get(row=pk)
    return _Work(transfer, transfer.row, holder, taken_at=now) if transfer.holder == holder else None


def _with_base_in_progress() -> QuerySet[Any]:
    """Return the enrolments whose base pay is in progress: their bonus waits for it."""
    in_progress = LedgerRow.objects.filter(reason="base", state__in=(State.APPROVED, State.SENT, State.UNCLEAR))
    return in_progress.order_by().values("enrolment")


# ---- a group of rows -------------------------------------------------------------------------------


@dataclass
class _Member:
    """One row of a group, with its order."""

    work: _Work
    identity: Identity
    order: Order


def _pay_group(keys: Sequence[int]) -> int:
    """Process rows of one study, recruiter, reason and state as far as possible; return how many.

    A single row is a group of one. Several are read, prepared and paid together where the recruiter can, in the same
    steps; after a crash, each row continues alone.
    """
    works = [work for key in keys if (work := _lease_row(key)) is not None]
    identities = Identity.objects.filter(enrolment__in=[work.row.enrolment_id for work in works])
    people = {identity.enrolment_id: identity for identity in identities}
    members = []
    for work in works:
        identity = people.get(work.row.enrolment_id)
        with _saving_errors(work, identity):
            if identity is None:
                is_unsent = work.row.state == State.APPROVED
                reason = _("This participant was erased, so it is unknown whom to pay.")
                _end(work, State.FAILED if is_unsent else State.UNCLEAR, reason)
            else:
                members.append(_Member(work, identity, order_of(work.row, identity, reference=work.transfer.reference)))
    if not members:
        return len(works)
    alone: Sequence[_Member] = members
    try:
        payer = payer_of(members[0].work.row)
        if payer is not None and len(members) > 1:
            payer.read([member.order for member in members])
            if members[0].work.row.state == State.APPROVED:
                alone = _pay(payer, members)
    except Exception as error:  # nothing was sent; saved in each row
        for member in members:
            with _saving_errors(member.work, member.identity):
                raise error
        return len(works)
    for member in alone:
        with _saving_errors(member.work, member.identity):
            _continue(payer, member)
    return len(works)


# ---- the steps -------------------------------------------------------------------------------------


def _continue(payer: Payer | None, member: _Member) -> None:
    if payer is None:
        _retry_later(
            member.work,
            _(
                "Parley no longer pays through this kind of recruiter. Pay this yourself and mark it as paid, or "
                "withdraw the approval."
            ),
        )
    elif member.work.row.state == State.APPROVED:
        _pay(payer, [member])
    else:
        _look_up_result(payer, member)


def _pay(payer: Payer, members: Sequence[_Member]) -> list[_Member]:
    """Check, prepare and pay a group of orders; return those of several that have to be paid alone.

    Raise only before any is sent.
    """
    ready, alone = [], []
    for member in members:
        status = payer.assignment_status(member.order)
        if status in PAYABLE_STATUSES:
            ready.append(member)
        elif len(members) > 1:
            alone.append(member)
        elif status == AssignmentStatus.WORKING:
            _retry_later(member.work, waiting_reason(status))
        else:
            _end(member.work, State.FAILED, status_problem(status))
    references = {member.order.uid: member.order.reference for member in ready if member.order.reference}
    unprepared = [member.order for member in ready if not member.order.reference]
    references.update(payer.prepare_all(unprepared) if unprepared else {})
    sent = []
    for member in ready:
        if member.order.uid not in references:
            alone.append(member)
            continue
        with _saving_errors(member.work, member.identity):
            _keep_reference(member, references[member.order.uid])
            if member.work.late:
                _retry_later(member.work, _slow())
            else:
                _mark_sent(member.work)
                sent.append(member)
    if sent:
        _ask(payer, sent)
    return alone


def _keep_reference(member: _Member, reference: str) -> None:
    with _locked_if_leased(member.work):
        Transfer.objects.filter(pk=member.work.transfer.pk).update(reference=reference)
    member.order = replace(member.order, reference=reference)


def _mark_sent(work: _Work) -> None:
    """Save that the recruiter is about to be asked to pay."""
    with _locked_if_leased(work) as row:
        post(row, to=State.SENT, why=_("asked the recruiter to pay"))
        asked_fields = {"asked_at": timezone.now(), "accepted": False, "failures": 0}
        Transfer.objects.filter(pk=work.transfer.pk).update(**asked_fields)
    work.row.state = State.SENT


def _ask(payer: Payer, members: Sequence[_Member]) -> None:
    """Ask the recruiter to pay a group; its rows are already marked as sent."""
    orders = [member.order for member in members]
    try:
        answers = {} if members[0].work.late else payer.pay_all(orders)
    except Exception as error:  # noqa: BLE001  (after any error, it is unknown whether they were paid)
        for member in members:
            _unanswered(member.work, member.identity, error)
        return
    for member in members:
        with _saving_errors(member.work, member.identity):
            if (answer := answers.get(member.order.uid)) is not None:
                _save_answer(member.work, answer, member.identity)
            elif len(members) > 1:  # certainly not paid together with the others
                _ask(payer, [member])
            else:
                _retry_later(member.work, _slow())


def _slow() -> str:
    return _("The recruiter is responding slowly; this is retried.")


def _unanswered(work: _Work, identity: Identity, error: Exception) -> None:
    """Delay an order whose answer was lost, so that it is looked up before anything else."""
    if isinstance(error, Unreachable):
        problem = _("No answer: {why} The payment is looked up before anything else happens.")
        problem = problem.format(why=scrubbed(str(error), identity))
    else:
        log.error("paying ledger row %s failed: %s", work.row.uid, type(error).__name__)
        problem = _("Invalid answer. The payment is looked up before anything else happens.")
    _retry_later(work, problem, at_least=SETTLING)


def _look_up_result(payer: Payer, member: _Member) -> None:
    """Look up an order that was sent; pay again only if that cannot pay twice."""
    work, transfer = member.work, member.work.transfer
    elapsed = timezone.now() - (transfer.asked_at or work.row.sent_at or work.row.created_at)
    if not transfer.accepted and elapsed < SETTLING:
        _retry_later(work, work.row.problem, wait=SETTLING - elapsed)
        return
    answer = payer.look_up(member.order)
    may_ask_again = answer.outcome == Outcome.NOT_FOUND or (answer.outcome == Outcome.UNCLEAR and payer.may_repeat)
    if may_ask_again and not transfer.accepted:
        with _locked_if_leased(work):
            Transfer.objects.filter(pk=transfer.pk).update(asked_at=timezone.now())
        _ask(payer, [member])
    else:
        _save_answer(work, answer, member.identity)


def _save_answer(work: _Work, answer: Answer, identity: Identity) -> None:
    """Save the recruiter's answer about an order that was sent."""
    reason = scrubbed(answer.reason, identity)
    if answer.outcome == Outcome.CONFIRMED:
        _end(work, State.CONFIRMED, "", why=reason or _("the recruiter confirms the payment"))
    elif answer.outcome == Outcome.REFUSED:
        _end(work, State.FAILED, reason or _("The recruiter refused the payment without giving a reason."))
    elif answer.outcome == Outcome.SENT:
        if _too_old(work.transfer, CONFIRMATION_TIMEOUT):
            _end(work, State.UNCLEAR, _unconfirmed())
        else:
            Transfer.objects.filter(pk=work.transfer.pk, holder=work.holder).update(accepted=True)
            work.transfer.accepted = True
            _retry_later(work, reason or _("The recruiter has accepted the order and has not confirmed it yet."))
    elif answer.outcome == Outcome.QUEUED:
        _retry_later(work, reason, at_least=SETTLING)
    else:
        unclear = _("It is unknown whether this was paid.")
        _end(work, State.UNCLEAR, f"{unclear} {reason}".strip())


# ---- writing down ----------------------------------------------------------------------------------


@contextmanager
def _locked_if_leased(work: _Work) -> Iterator[LedgerRow]:
    """Open a transaction with the row locked, if this process still holds the lease and the state is unchanged."""
    with transaction.atomic():
        row = locked(work.row.pk)
        is_leased = Transfer.objects.filter(pk=work.transfer.pk, holder=work.holder).exists()
        if not is_leased or row.state != work.row.state:
            raise _LostLease
        yield row


def _end(work: _Work, to: str, problem: str, *, why: str = "") -> None:
    with _locked_if_leased(work) as row:
        post(row, to=to, why=why or problem, problem=problem)
        Transfer.objects.filter(pk=work.transfer.pk).update(holder="", until=timezone.now(), failures=0)


def _retry_later(
    work: _Work, problem: str, *, wait: timedelta | None = None, at_least: timedelta = timedelta(0)
) -> None:
    """Release the row and retry after a delay that doubles each time, or leave it for a person to look up."""
    failures = work.transfer.failures
    wait = wait if wait is not None else max(min(FIRST_WAIT * 2 ** min(failures, 10), LONGEST_WAIT), at_least)
    try:
        with _locked_if_leased(work) as row:
            if row.state == State.SENT and (silence := _silent_too_long(work.transfer)):
                post(row, to=State.UNCLEAR, why=problem, problem=f"{silence} {problem}")
            else:
                LedgerRow.objects.filter(pk=row.pk).update(problem=problem[:300])
            now = timezone.now()
            Transfer.objects.filter(pk=work.transfer.pk).update(
                holder="", until=now, next_at=now + wait, failures=F("failures") + 1
            )
    except _LostLease:
        log.info("ledger row %s: another process continues", work.row.uid)


def _silent_too_long(transfer: Transfer) -> str:
    """Return why a person has to look up an unanswered order; empty if it is too early for that."""
    if transfer.accepted:
        return _unconfirmed() if _too_old(transfer, CONFIRMATION_TIMEOUT) else ""
    return _("The recruiter has not answered for a day.") if _too_old(transfer, ANSWER_TIMEOUT) else ""


def _unconfirmed() -> str:
    return _("The recruiter accepted the order a week ago and has not confirmed it since.")


def _too_old(transfer: Transfer, timeout: timedelta) -> bool:
    return bool(transfer.row.sent_at and timezone.now() - transfer.row.sent_at > timeout)


# ---- orders, and messages about the recruiter's answers --------------------------------------------------


def payer_of(row: LedgerRow) -> Payer | None:
    """Return the payer for this row's study and recruiter; None if Parley does not pay. May raise Unreachable."""
    method = payers.method_of(row.recruiter)
    return method.payer(row.study) if method is not None and method.payer is not None else None


def order_of(row: LedgerRow, identity: Identity, *, reference: str = "") -> Order:
    """Return the order to pay this row."""
    bonus = row.reason == "bonus"
    thanks = _("Thank you for taking part. This is your bonus.") if bonus else _("Thank you for taking part.")
    return Order(
        uid=row.uid,
        reason=row.reason,
        amount=row.amount,
        currency=row.currency,
        worker=identity.worker,
        details=identity.details,
        message=thanks,
        reference=reference,
    )


def fee_of(row: LedgerRow, payer: Payer, identity: Identity) -> Decimal:
    """Return the recruiter's fee on top of the amount. May raise Unreachable."""
    return payer.fee(order_of(row, identity)).quantize(Decimal("0.01"))


def waiting_reason(status: AssignmentStatus) -> str:
    """Return why an approved payment has to wait."""
    return _("The participant has not submitted to the recruiter yet. The payment is made once they do.")


def status_problem(status: AssignmentStatus) -> str:
    """Return why this assignment status rules out paying."""
    return {
        AssignmentStatus.REJECTED: _("The participant's assignment was rejected."),
        AssignmentStatus.RETURNED: _(
            "The participant returned the assignment or never submitted it. If they are owed this, pay it on the "
            "recruiter's own site, then mark it as paid."
        ),
        AssignmentStatus.TIMED_OUT: _(
            "The assignment timed out before the participant submitted it. If they are owed this, pay it on the "
            "recruiter's own site, then mark it as paid."
        ),
        AssignmentStatus.UNKNOWN: _("The recruiter has no such assignment."),
        AssignmentStatus.SOMEBODY_ELSE: _(
            "The recruiter reports that the assignment belongs to someone else or to another study."
        ),
    }.get(status, _("The recruiter reported an unknown status."))


def scrubbed(text: str, identity: Identity | None) -> str:
    """Return a recruiter's message without this participant's identifiers."""
    if identity is None:
        return text[:300]
    identifiers = {identity.worker, identity.proof, *map(str, identity.details.values())}
    long_enough = {identifier for identifier in identifiers if len(identifier) > 3}
    for identifier in sorted(long_enough, key=len, reverse=True):
        text = text.replace(identifier, "•••")
    return text[:300]
