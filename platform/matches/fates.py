"""What has become of a person's seat when somebody else answers in it.

`Match.fates` keeps, by role, one of

    {"missed": n}            the clock has moved n times in a row; from `MISSED_TURNS` on it does so at once
    {"missed": n, "gone": true}    the person has left for good, and the clock moves at once to the end
    {"agent": {spec, delay, settings}}    an agent has taken the seat for good

Seats that their person or their agent plays alone are not in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MISSED_TURNS = 2
Fate = Mapping[str, Any]


def is_away(fate: Fate) -> bool:
    """Whether the clock answers at once: turns in a row were missed, or the person has gone."""
    return bool(fate.get("gone")) or fate.get("missed", 0) >= MISSED_TURNS


def is_lost(fate: Fate) -> bool:
    """Whether the person can no longer return to the seat."""
    return bool(fate.get("gone")) or "agent" in fate
