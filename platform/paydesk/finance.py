"""The accounting export: one line per ledger row, without anything that identifies a participant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exports import csvsafe
from paydesk import status, words
from studies.models import Study

COLUMNS = (
    "study", "row", "participant", "reason", "amount", "currency", "fee_estimated", "state", "paid_by_hand",
    "recruiter", "how_it_came_about", "due_at", "approved_at", "approved_by", "sent_at", "settled_at", "problem",
)  # fmt: skip


def lines(study: Study) -> Iterator[bytes]:
    """Yield the file's lines: times in UTC, text that a spreadsheet would run as a formula defused."""
    yield csvsafe.line(COLUMNS)
    rows = status.rows_of(study).select_related("enrolment").order_by("pk")
    for row in rows.iterator(chunk_size=1000):
        values: tuple[Any, ...] = (
            row.study, str(row.uid), row.enrolment.pseudonym, row.reason, row.amount, row.currency, row.fee,
            row.state, row.by_hand, row.recruiter, words.workings_in_words(row), row.created_at, row.approved_at,
            row.approved_by, row.sent_at, row.settled_at, row.problem,
        )  # fmt: skip
        yield csvsafe.line(map(csvsafe.cell, values))
