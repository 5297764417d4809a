"""Matches for tests, at their first turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matches import services
from matches.models import Match
from participants.models import Enrolment
from participants.services import expiry_after
from participants.states import State


def participant(**fields: Any) -> Enrolment:
    """Return a participant whose only step is a match."""
    defaults = {"steps": [{"kind": "match"}], "expires_at": expiry_after(60), "state": State.PLAYING}
    return Enrolment.objects.create(**{**defaults, **fields})


def opened(
    players: Mapping[str, Any] | None = None,
    *,
    game: str = "bargaining",
    config: Mapping[str, Any] | None = None,
    seed: int = 1,
    **options: Any,
) -> Match:
    """Open a match, by default of a person as alice against a fair script that no worker runs.

    Args:
        players: by role, "person" for a new participant, an enrolment, an agent's specification, or a `Player`.
    """
    seated = {role: _player(who) for role, who in (players or {"alice": "person", "bob": "script:fair"}).items()}
    return services.open_match(game=game, config=dict(config or {}), players=seated, seed=seed, **options)


def _player(who: Any) -> services.Player:
    if isinstance(who, services.Player):
        return who
    if isinstance(who, Enrolment) or who == "person":
        return services.Player(enrolment=participant() if who == "person" else who, step=0)
    return services.Player(agent=who)
