"""The list that participants of a session sign when they are paid in the room."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

from gathering.models import Session
from payouts.models import LedgerRow

NOT_OWED = (LedgerRow.State.WRITTEN_OFF, LedgerRow.State.ELSEWHERE)


@dataclass(frozen=True)
class Receipt:
    """One line: the lab's label and the participant's pseudonym, and what they get in one currency."""

    label: str
    pseudonym: str
    amount: Decimal
    currency: str


def receipts(session: Session) -> tuple[list[Receipt], dict[str, Decimal]]:
    """Return the lines in the order of their labels, and the total of each currency."""
    paid: dict[tuple[int, str, str], Decimal] = defaultdict(Decimal)
    labels = {each.enrolment_id: each.shown_label for each in session.attendances.select_related("lab_code")}
    rows = LedgerRow.objects.filter(enrolment__attendance__session=session).exclude(state__in=NOT_OWED)
    for person, pseudonym, currency, amount in rows.values_list(
        "enrolment", "enrolment__pseudonym", "currency", "amount"
    ):
        paid[person, pseudonym, currency] += amount
    lines = [
        Receipt(labels[person], pseudonym, amount, currency) for (person, pseudonym, currency), amount in paid.items()
    ]
    totals: dict[str, Decimal] = defaultdict(Decimal)
    for line in lines:
        totals[line.currency] += line.amount
    return sorted(lines, key=lambda line: (_natural(line.label), line.pseudonym)), dict(sorted(totals.items()))


def _natural(label: str) -> list[tuple[int, int, str]]:
    """Return a key by which "PC 2" comes before "PC 10"."""
    parts = re.findall(r"\d+|\D+", label.casefold())
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]
