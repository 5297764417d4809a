"""How exactly a dataset's points in time are written: exact ones can be matched with a recruiter's log of arrivals.

Durations are always exact.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal, get_args

from exports.tables import Column, Table

Times = Literal["exact", "minute", "hour"]
TIMES: tuple[Times, ...] = get_args(Times)


def cut(at: datetime | None, times: Times) -> datetime | None:
    """Return the beginning of the minute or hour, in UTC, or the exact time."""
    if at is None or times == "exact":
        return at
    at = at.astimezone(UTC).replace(second=0, microsecond=0)
    return at if times == "minute" else at.replace(minute=0)


def with_times(table: Table, times: Times) -> Table:
    """Return the table with its points in time cut."""

    def coarse(column: Column) -> Column:
        read = column.read
        return replace(column, read=lambda subject: cut(read(subject), times), values=f"cut to the {times}")

    if times == "exact":
        return table
    columns = [coarse(column) if column.kind == "time" else column for column in table.columns]
    if table.name == "participants":
        ended = next(i for i, column in enumerate(columns) if column.name == "ended_at")
        columns.insert(ended + 1, _SECONDS)
    return replace(table, columns=columns)


_SECONDS = Column(
    "seconds",
    "number",
    "Time from arriving to the end of the enrolment, which the points in time no longer show; empty before the end.",
    lambda p: round((p.ended_at - p.enrolment.arrived_at).total_seconds(), 3) if p.ended_at else None,
    unit="seconds",
)
