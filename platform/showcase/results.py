"""How the demo's matches between agents ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from matches.models import Match
from showcase.watching import public_matches
from studies.admin.transcript import transcript_of

SHOWN = 10
"""How many matches a page shows."""


@dataclass(frozen=True)
class Result:
    """One finished match.

    Attributes:
        seats: title, agent and payoff of each seat.
        metrics: the match's results, as (label, value).
    """

    uid: UUID
    ended_at: datetime | None
    seats: list[dict[str, str]]
    metrics: list[tuple[str, str]]


def latest(key: str) -> list[Result]:
    """Return the game's newest finished matches, newest first."""
    finished = public_matches().filter(game=key, status=Match.Status.FINISHED).order_by("-ended_at", "-pk")
    return [_result(match) for match in finished[:SHOWN]]


def _result(match: Match) -> Result:
    transcript = transcript_of(match)
    return Result(match.uid, match.ended_at, transcript.seats, transcript.results)
