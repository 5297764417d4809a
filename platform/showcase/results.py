"""How the demo's matches between agents ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from games.interface import OBSERVER, Bar, Bars, Game
from matches.models import Match
from matches.picturing import Picture, picture
from showcase.watching import public_matches
from studies.admin.transcript import readable

SHOWN = 10
"""How many matches a page shows."""


@dataclass(frozen=True)
class Result:
    """One finished match.

    Attributes:
        players: title and agent of each seat.
        metrics: the match's results, as (label, value).
    """

    uid: UUID
    ended_at: datetime | None
    picture: Picture
    players: list[tuple[str, str]]
    metrics: list[tuple[str, str]]


def latest(key: str) -> list[Result]:
    """Return the game's newest finished matches, newest first."""
    finished = public_matches().filter(game=key, status=Match.Status.FINISHED).order_by("-ended_at", "-pk")
    return [_result(match) for match in finished.prefetch_related("seats")[:SHOWN]]


def _result(match: Match) -> Result:
    play = match.play()
    game, agents = play.game, {seat.role: _named(seat.agent) for seat in match.seats.all()}
    bars = game.result_bars(play.state, OBSERVER) or _payoffs(game, match.payoffs or {}, agents)
    metrics = [(name.replace("_", " "), _rounded(value)) for name, value in (match.metrics or {}).items()]
    players = [(game.role_title(role), agents[role]) for role in game.roles()]
    return Result(match.uid, match.ended_at, picture(game, bars, OBSERVER), players, metrics)


def _payoffs(game: Game[Any, Any], payoffs: dict[str, float], agents: dict[str, str]) -> Bars:
    """Return the payoffs as a picture, for games that show spectators none of their own."""
    is_alone = len(payoffs) == 1
    return Bars(
        _("Payoffs"),
        tuple(
            Bar(agents[role] if is_alone else game.role_title(role), _rounded(payoff), payoff, role=role)
            for role, payoff in payoffs.items()
        ),
        high=1 if is_alone else None,
    )


def _named(agent: str) -> str:
    """Return an agent's name without its kind: "tit for tat" for a script."""
    return agent.partition(":")[2].replace("_", " ") or agent


def _rounded(value: Any) -> str:
    return readable(round(value, 2) if isinstance(value, float) else value)
