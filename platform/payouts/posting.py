"""Change a ledger row's state: the row and its posting are saved together or not at all."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from payouts.models import Account, LedgerRow, Posting

State = LedgerRow.State

ACCOUNT_OF: dict[str, Account] = {
    State.DUE: Account.OWED,
    State.APPROVED: Account.APPROVED,
    State.SENT: Account.IN_TRANSIT,
    State.CONFIRMED: Account.PAID,
    State.FAILED: Account.FAILED,
    State.UNCLEAR: Account.UNCLEAR,
    State.WRITTEN_OFF: Account.WRITTEN_OFF,
    State.ELSEWHERE: Account.ELSEWHERE,
}
"""The account of each state."""

ALLOWED: dict[str, frozenset[str]] = {
    State.DUE: frozenset({State.APPROVED, State.WRITTEN_OFF}),
    State.APPROVED: frozenset({State.DUE, State.SENT, State.FAILED, State.CONFIRMED}),
    State.SENT: frozenset({State.CONFIRMED, State.FAILED, State.UNCLEAR}),
    State.UNCLEAR: frozenset({State.CONFIRMED, State.FAILED}),
    State.FAILED: frozenset({State.APPROVED, State.WRITTEN_OFF, State.CONFIRMED}),
    State.WRITTEN_OFF: frozenset({State.DUE}),
    State.CONFIRMED: frozenset({State.DUE}),
    State.ELSEWHERE: frozenset(),
}
"""The states that each state can change to. From confirmed, only rows paid by hand can go back."""


class NotPosted(Exception):
    """A row is not in the right state for the step; nothing was changed. The message is for the researcher."""


def cost_of(state: str) -> Account:
    """Return the cost account of a state."""
    return Account.COST_ELSEWHERE if state == State.ELSEWHERE else Account.COST


def open_books(row: LedgerRow) -> None:
    """Write the first posting of a row that was just added: from cost to the account of its state."""
    Posting.objects.create(
        row=row, number=1, debit=cost_of(row.state), credit=ACCOUNT_OF[row.state], amount=row.amount,
        currency=row.currency, at=row.created_at,
    )  # fmt: skip


def locked(pk: int) -> LedgerRow:
    """Return the row, locked until the current transaction ends."""
    return LedgerRow.objects.select_for_update(of=("self",)).get(pk=pk)


def post(
    row: LedgerRow, *, to: str, user: Any = None, why: str = "", problem: str = "", rejected: bool = False
) -> Posting:
    """Change the state of a row that this transaction has `locked`, and write the posting.

    Args:
        user: the user who did it; None if automatic.
        why: kept in the journal; names no participant.
        problem: shown to the researcher with the row from now on.
        rejected: it is written off because the work was rejected.

    Raises:
        NotPosted: a row in its state cannot change to `to`.
    """
    assert transaction.get_connection().in_atomic_block, "a posting and its row change together"
    came_from = row.state
    if to not in ALLOWED[came_from] or (came_from == State.CONFIRMED and not row.by_hand):
        raise NotPosted(
            _("This payment is {state} and cannot become {wanted}.").format(
                state=row.get_state_display(), wanted=State(to).label
            )
        )
    now = timezone.now()
    has_user = user is not None and user.pk is not None
    posting = Posting.objects.create(
        row=row,
        number=row.postings.count() + 1,
        debit=ACCOUNT_OF[came_from],
        credit=ACCOUNT_OF[to],
        amount=row.amount,
        currency=row.currency,
        at=now,
        by=user.get_username()[:150] if has_user else "",
        by_id=user.pk if has_user else None,
        why=why[:300],
    )
    row.state, row.problem = to, problem[:300]
    if to == State.APPROVED:
        row.approved_at, row.approved_by, row.sent_at = now, posting.by, None
    elif to == State.DUE:
        row.approved_at, row.approved_by, row.fee = None, "", None
    elif to == State.SENT:
        row.sent_at = now
    row.settled_at = now if to in (State.CONFIRMED, State.WRITTEN_OFF) else None
    row.by_hand = to == State.CONFIRMED and has_user
    row.rejected = to == State.WRITTEN_OFF and rejected
    changed_fields = "state problem fee by_hand rejected approved_at approved_by sent_at settled_at"
    row.save(update_fields=changed_fields.split())
    return posting
