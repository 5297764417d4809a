"""The plan that a new study begins with: one game, a participant against the game's default script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games import registry
from games.interface import Game, Json, Role
from games.play import configure
from plans.agents import PERSON
from plans.plan import FORMAT, FORMAT_VERSION
from plans.seats import OTHERS

STAGE = "game"
"""The name of the game's stage."""


def first_of_each_kind(game: Game[Any, Any]) -> list[Role]:
    """Return the first seat of each kind that people may take; the others are equivalent."""
    first: dict[str, Role] = {}
    for role in game.people():
        first.setdefault(game.kind(role), role)
    return list(first.values())


def plan_for(
    key: str,
    *,
    title: str = "",
    config: Mapping[str, Json] | None = None,
    roles: Sequence[Role] | None = None,
    agents: Mapping[str, Mapping[str, Json]] | None = None,
    stage: Mapping[str, Json] | None = None,
    **parts: Json,
) -> dict[str, Json]:
    """Return a plan in which a participant plays the game against each agent.

    Args:
        config: its parameters; the game's starting configuration by default.
        roles: the participant's seats, each a cell; the first seat of each kind by default.
        agents: by label; the game's default script by default. Several that are no others' fallbacks are a factor.
        stage: other settings of the game's stage, such as `seats`, which replaces roles and agents as players.
        parts: further parts of the plan, such as `pay`.
    """
    kind = registry.get(key)
    chosen = dict(kind.starting_config if config is None else config)
    game = configure(kind, chosen)
    roles = list(first_of_each_kind(game) if roles is None else roles)
    agents = dict(agents or {kind.default_script: {"script": kind.default_script}}) if len(game.roles()) > 1 else {}
    factors: dict[str, Json] = dict(parts.pop("factors", None) or {})
    seats: Json = (stage or {}).get("seats")
    if seats is None:
        opponents = [label for label in agents if not any(label in _fallbacks(other) for other in agents.values())]
        opponent: Json = next(iter(opponents), PERSON)
        if len(opponents) > 1:
            factors["opponent"] = {"levels": opponents}
            opponent = {"by": "opponent"}
        by_role = {role: {role: PERSON, OTHERS: opponent} if agents else {role: PERSON} for role in roles}
        seats = by_role[roles[0]]
        if len(roles) > 1:
            factors["seat"] = {"levels": roles}
            seats = {"by": "seat", "values": by_role}
    return {
        "format": FORMAT,
        "version": FORMAT_VERSION,
        "title": title or str(kind.title),
        **({"factors": factors} if factors else {}),
        **({"agents": agents} if agents else {}),
        "journey": [
            {"stage": "consent", "text": "default"},
            {"stage": "game", "name": STAGE, "game": key, "config": chosen, **(stage or {}), "seats": seats},
        ],
        **parts,
    }


def _fallbacks(agent: Mapping[str, Json]) -> list[Json]:
    fallback = agent.get("fallback")
    return fallback if isinstance(fallback, list) else [fallback]
