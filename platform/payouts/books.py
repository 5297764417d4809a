"""Check that the sums of postings and ledger rows agree, to the cent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
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
    message: str

    def __str__(self) -> str:
        return f"{self.study}: {self.message}"


def balances(study: str | None = None) -> dict[Key, dict[str, Decimal]]:
    """Return each account's balance by study and currency, for one study or for all.

    A balance is credits minus debits; the cost accounts are negative.
    """
    totals: dict[Key, dict[str, Decimal]] = defaultdict(lambda: {account: ZERO for account in Account.values})
    postings = Posting.objects.order_by()
    if study is not None:
        postings = postings.filter(row__study=study)
    for side, sign in (("credit", 1), ("debit", -1)):
        sums = postings.values_list("row__study", "currency", side).annotate(Sum("amount"))
        for study_name, currency, account, amount in sums:
            totals[study_name, currency][account] += sign * amount
    return dict(totals)


def check(study: str | None = None, *, journals: bool = True) -> list[Discrepancy]:
    """Return every error in the books of one study or of all.

    By study and currency, each account's balance must equal the sum of the rows in its state, and all balances must sum
    to zero. By row, postings must be numbered without gaps, each must move the full amount, and the last one must lead
    to the account of the row's state. The check by row takes longer; `journals=False` skips it.
    """
    rows = LedgerRow.objects.order_by() if study is None else LedgerRow.objects.order_by().filter(study=study)
    return [*_sum_discrepancies(rows, balances(study)), *(_row_discrepancies(rows) if journals else ())]


Check = Callable[[str | None], Iterable[Discrepancy]]
_further_checks: list[Check] = []


def register(check: Check) -> None:
    """Register a check that needs more than the ledger; it gets a study's short name, or None for all."""
    _further_checks.append(check)


def check_everything(study: str | None = None) -> Iterator[Discrepancy]:
    """Yield every error that `check` and the registered checks find."""
    yield from check(study)
    for further_check in _further_checks:
        yield from further_check(study)


def _sum_discrepancies(rows: QuerySet[LedgerRow], actual: dict[Key, dict[str, Decimal]]) -> Iterator[Discrepancy]:
    expected: dict[Key, dict[str, Decimal]] = defaultdict(lambda: {account: ZERO for account in Account.values})
    for study, currency, state, amount in rows.values_list("study", "currency", "state").annotate(Sum("amount")):
        expected[study, currency][ACCOUNT_OF[state]] += amount
        expected[study, currency][cost_of(state)] -= amount
    for study, currency in sorted({*expected, *actual}):
        account_amounts = actual.get((study, currency), {})
        for account in Account.values:
            expected_amount, actual_amount = expected[study, currency][account], account_amounts.get(account, ZERO)
            if expected_amount != actual_amount:
                yield Discrepancy(
                    study,
                    _("the account “{account}” holds {does} {currency}, but its rows sum to {should}").format(
                        account=Account(account).label, does=actual_amount, should=expected_amount, currency=currency
                    ),
                )
        if total := sum(account_amounts.values(), start=ZERO):
            yield Discrepancy(
                study,
                _("the accounts sum to {total} {currency} instead of zero").format(total=total, currency=currency),
            )


def _row_discrepancies(rows: QuerySet[LedgerRow]) -> Iterator[Discrepancy]:
    for row in rows.filter(postings=None).iterator(chunk_size=CHUNK):
        yield Discrepancy(row.study, _("row {uid} has no postings").format(uid=row.uid))
    postings = Posting.objects.filter(row__in=rows).select_related("row").order_by("row_id", "number")
    for _row_id, row_postings in groupby(postings.iterator(chunk_size=CHUNK), key=lambda posting: posting.row_id):
        journal = list(row_postings)
        row = journal[0].row
        if not _leads_to_state(journal, row):
            yield Discrepancy(row.study, _("the postings of row {uid} do not match its state").format(uid=row.uid))


def _leads_to_state(journal: list[Posting], row: LedgerRow) -> bool:
    """Return whether these postings move the row's amount step by step from cost to the account of its state."""
    first_state = LedgerRow.State.ELSEWHERE if row.state == LedgerRow.State.ELSEWHERE else LedgerRow.State.DUE
    account: str = cost_of(first_state)
    for number, posting in enumerate(journal, start=1):
        moves_full_amount = (posting.amount, posting.currency) == (row.amount, row.currency)
        if not moves_full_amount or (posting.number, posting.debit) != (number, account):
            return False
        account = posting.credit
    return account == ACCOUNT_OF[row.state]
