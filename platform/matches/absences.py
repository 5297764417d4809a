"""The state of a participant's seat while its participant is absent, or the clock or an agent answers in it.

`Match.absences` holds, by role, those of the following that apply:

    since       the participant's page was last heard from then (ISO); they are absent
    used        seconds of the participant's absence budget that are used up
    missed      the clock has moved so many times in a row; from `MISSED_TURNS` on it moves at once
    gone        true: the participant has left for good, and the clock moves at once
    agent       {spec, delay, settings}: an agent has the seat, for good unless `lent`
    lent        {ending, at, last, played}: the agent keeps the seat until its participant is back; how their time had
                ended, when, the last event before, and how much of the match had been played
    idle        true: the participant's page was there all the time, so they are back only when they say so
    returning   true: the participant is back, and the agent still answers the open question
    made        so many moves were made by the agent since the participant's own last one

An absence counts against the budget only while the participant's turn is open and our server can be reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from matches.turns import OpenTurn

if TYPE_CHECKING:  # its models load only with the apps, which `show` needs not
    from uptime.services import Uptime

MISSED_TURNS = 2
ABSENCE_SECONDS = 120
"""The absence budget of matches whose timers do not set it."""
GRACE_SECONDS = 60
"""How long after an outage or an absence an answer given in time may arrive, unless the timers set it."""
ABSENT_AFTER = timedelta(seconds=12)
"""A participant is absent when their page has not been heard from for this long; pages call every few seconds."""
Absence = Mapping[str, Any]


def is_away(absence: Absence) -> bool:
    """Return whether the clock answers at once: consecutive turns were missed, or the participant has left."""
    return bool(absence.get("gone")) or absence.get("missed", 0) >= MISSED_TURNS


def is_answered_for(absence: Absence) -> bool:
    """Return whether the clock or an agent has answered for the participant since they last moved or came back."""
    return bool(absence.get("missed")) or is_lost(absence) or is_replaced(absence)


def is_lost(absence: Absence) -> bool:
    """Return whether the participant can no longer return to the seat."""
    return bool(absence.get("gone")) or ("agent" in absence and "lent" not in absence)


def is_replaced(absence: Absence) -> bool:
    """Return whether an agent has the seat and its participant is not back."""
    return "agent" in absence and not absence.get("returning")


def must_say_so(absence: Absence) -> bool:
    """Return whether the participant is back only when they say so: their page was there, but they did not answer."""
    return is_away(absence) if "agent" not in absence else bool(absence.get("idle")) and is_replaced(absence)


def has_lost_connection(absence: Absence) -> bool:
    return "since" in absence


def is_silent(last_seen_at: datetime, uptime: Uptime) -> bool:
    """Return whether a page last heard from then has been silent for too long, not counting our outages."""
    return uptime.has_passed(uptime.extended(last_seen_at, last_seen_at + ABSENT_AFTER))


def budget_of(timers: Mapping[str, Any]) -> float:
    """Return a match's absence budget in seconds; 0 if it waits for nobody."""
    return float(timers.get("absence", ABSENCE_SECONDS))


def grace_of(timers: Mapping[str, Any]) -> timedelta:
    return timedelta(seconds=timers.get("grace", GRACE_SECONDS))


def used_seconds(absence: Absence, turn: OpenTurn | None, uptime: Uptime) -> float:
    """Return the used part of the budget, with what the current absence has cost in the open turn so far."""
    used: float = absence.get("used", 0.0)
    since = _counted_since(absence, turn)
    return used if since is None else used + uptime.served(since, uptime.now).total_seconds()


def _counted_since(absence: Absence, turn: OpenTurn | None) -> datetime | None:
    """Return since when an absence counts against the budget; None if it does not."""
    if "since" not in absence or turn is None or turn.by_agent:
        return None
    return max(datetime.fromisoformat(absence["since"]), turn.opened_at)


def limit_of(turn: OpenTurn, absence: Absence, budget: float, uptime: Uptime) -> datetime:
    """Return when the time of a turn is up: for an absent participant not before the budget is used up."""
    limit = turn.limit(uptime)
    since = _counted_since(absence, turn)
    if since is None:
        return limit
    left = timedelta(seconds=max(0.0, budget - absence.get("used", 0.0)))
    return max(limit, uptime.extended(since, since + left))
