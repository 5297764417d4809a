"""Check that the sums of postings and ledger rows agree, to the cent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby

from django.db.models import QuerySet, Sum
from django.utils.translation import gettext as _

from payouts.models import Account, LedgerRow, Posting
from payouts.posting import ACCOUNT_OF, cost_of

ZERO = Decimal("0.00")
CHUNK = 2000
Key = tuple[str, str]
"""A study's short name and a currency."""


@dataclass(frozen=True)
class Discrepancy:
    """An error in the books."""

    study: str
    says: str

    def __str__(self) -> str:
        return f"{self.study}: {self.says}"


def balances(study: str | None = None) -> dict[Key, dict[str, Decimal]]:
    """Return each account's balance by study and currency, for one study or for all.

    A balance is credits minus debits; the cost accounts are negative.
    """
    found: dict[Key, dict[str, Decimal]] = defaultdict(lambda: {account: ZERO for account in Account.values})
    postings = Posting.objects.order_by()
    if study is not None:
        postings = postings.filter(row__study=study)
    for side, sign in (("credit", 1), ("debit", -1)):
        sums = postings.values_list("row__study", "currency", side).annotate(Sum("amount"))
        for of, currency, account, amount in sums:
            found[of, currency][account] += sign * amount
    return dict(found)


def check(study: str | None = None, *, journals: bool = True) -> list[Discrepancy]:
    """Return every error in the books of one study or of all.

    By study and currency, each account's balance must equal the sum of the rows in its state, and all balances must sum
    to zero. By row, postings must be numbered without gaps, each must move the full amount, and the last one must lead
    to the account of the row's state. The check by row takes longer; `journals=False` skips it.
    """
    rows = LedgerRow.objects.order_by() if study is None else LedgerRow.objects.order_by().filter(study=study)
    return [*_wrong_sums(rows, balances(study)), *(_wrong_rows(rows) if journals else ())]


def _wrong_sums(rows: QuerySet[LedgerRow], held: dict[Key, dict[str, Decimal]]) -> Iterator[Discrepancy]:
    wanted: dict[Key, dict[str, Decimal]] = defaultdict(lambda: {account: ZERO for account in Account.values})
    for study, currency, state, amount in rows.values_list("study", "currency", "state").annotate(Sum("amount")):
        wanted[study, currency][ACCOUNT_OF[state]] += amount
        wanted[study, currency][cost_of(state)] -= amount
    for study, currency in sorted({*wanted, *held}):
        has = held.get((study, currency), {})
        for account in Account.values:
            should, does = wanted[study, currency][account], has.get(account, ZERO)
            if should != does:
                yield Discrepancy(
                    study,
                    _("the account “{account}” holds {does} {currency}, but its rows sum to {should}").format(
                        account=Account(account).label, does=does, should=should, currency=currency
                    ),
                )
        if total := sum(has.values(), start=ZERO):
            yield Discrepancy(
                study,
                _("the accounts sum to {total} {currency} instead of zero").format(total=total, currency=currency),
            )


def _wrong_rows(rows: QuerySet[LedgerRow]) -> Iterator[Discrepancy]:
    for row in rows.filter(postings=None).iterator(chunk_size=CHUNK):
        yield Discrepancy(row.study, _("row {uid} has no postings").format(uid=row.uid))
    postings = Posting.objects.filter(row__in=rows).select_related("row").order_by("row_id", "number")
    for _row_id, found in groupby(postings.iterator(chunk_size=CHUNK), key=lambda posting: posting.row_id):
        journal = list(found)
        row = journal[0].row
        if not _leads(journal, row):
            yield Discrepancy(row.study, _("the postings of row {uid} do not match its state").format(uid=row.uid))


def _leads(journal: list[Posting], row: LedgerRow) -> bool:
    """Return whether these postings move the row's amount step by step from cost to the account of its state."""
    begun = LedgerRow.State.ELSEWHERE if row.state == LedgerRow.State.ELSEWHERE else LedgerRow.State.DUE
    at: str = cost_of(begun)
    for number, posting in enumerate(journal, start=1):
        moves_full_amount = (posting.amount, posting.currency) == (row.amount, row.currency)
        if not moves_full_amount or (posting.number, posting.debit) != (number, at):
            return False
        at = posting.credit
    return at == ACCOUNT_OF[row.state]
