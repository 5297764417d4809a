"""How the demo's matches between agents ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from matches.models import Match
from showcase.watching import public_matches
from studies.admin.transcript import readable

SHOWN = 10
"""How many matches a page shows."""


@dataclass(frozen=True)
class Share:
    """A seat's payoff, and its bar as a share of the largest payoff of the match (0 to 100)."""

    number: int
    title: str
    agent: str
    payoff: str
    width: float


@dataclass(frozen=True)
class Result:
    """One finished match; `metrics` are the match's results, as (label, value)."""

    uid: UUID
    ended_at: datetime | None
    shares: list[Share]
    metrics: list[tuple[str, str]]


def latest(key: str) -> list[Result]:
    """Return the game's newest finished matches, newest first."""
    finished = public_matches().filter(game=key, status=Match.Status.FINISHED).order_by("-ended_at", "-pk")
    return [_result(match) for match in finished.prefetch_related("seats")[:SHOWN]]


def _result(match: Match) -> Result:
    game, payoffs = match.configured(), match.payoffs or {}
    agents = {seat.role: seat.agent for seat in match.seats.all()}
    largest = max([abs(payoff) for payoff in payoffs.values()], default=0) or 1
    shares = [
        Share(
            number,
            game.role_title(role),
            _named(agents[role]),
            _rounded(payoffs[role]),
            100 * max(0, payoffs[role]) / largest,
        )
        for number, role in enumerate(game.roles(), start=1)
        if role in payoffs
    ]
    metrics = [(name.replace("_", " "), _rounded(value)) for name, value in (match.metrics or {}).items()]
    return Result(match.uid, match.ended_at, shares, metrics)


def _named(agent: str) -> str:
    """Return an agent's name without its kind: "tit for tat" for a script."""
    return agent.partition(":")[2].replace("_", " ") or agent


def _rounded(value: Any) -> str:
    return readable(round(value, 2) if isinstance(value, float) else value)
