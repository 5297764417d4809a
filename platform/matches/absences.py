"""The state of a participant's seat when the clock or an agent answers in it.

`Match.absences` holds, by role, one of

    {"missed": n}            the clock has moved n times in a row; from `MISSED_TURNS` on it moves at once
    {"missed": n, "gone": true}    the participant has left for good, and the clock moves at once
    {"agent": {spec, delay, settings}}    an agent has taken the seat for good

It omits seats played only by their own participant or agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MISSED_TURNS = 2
Absence = Mapping[str, Any]


def is_away(absence: Absence) -> bool:
    """Return whether the clock answers at once: consecutive turns were missed, or the participant has left."""
    return bool(absence.get("gone")) or absence.get("missed", 0) >= MISSED_TURNS


def is_answered_for(absence: Absence) -> bool:
    """Return whether the clock or an agent has answered for the participant since they last moved or came back."""
    return bool(absence.get("missed")) or is_lost(absence)


def is_lost(absence: Absence) -> bool:
    """Return whether the participant can no longer return to the seat."""
    return bool(absence.get("gone")) or "agent" in absence
