"""How exactly a dataset's points in time are written: exact ones can be matched with a recruiter's log of arrivals.

Durations are always exact.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal, get_args

Times = Literal["exact", "minute", "hour"]
TIMES: tuple[Times, ...] = get_args(Times)


def cut(at: datetime | None, times: Times) -> datetime | None:
    """Return the beginning of the minute or hour, in UTC, or the exact time."""
    if at is None or times == "exact":
        return at
    at = at.astimezone(UTC).replace(second=0, microsecond=0)
    return at if times == "minute" else at.replace(minute=0)
