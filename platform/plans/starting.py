"""The plans that a new study and a new collection begin with, or that a command describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games import registry
from games.interface import Game, Json, Role
from games.play import configure
from plans import collection
from plans.agents import PERSON
from plans.library import agent_like
from plans.plan import FORMAT, FORMAT_VERSION
from plans.seats import OTHERS

STAGE = "game"
"""The name of the game's stage."""
COMPREHENSION: Mapping[str, Json] = {"tries": 3}
"""Of a new study: the game's own questions about its rules, before play."""
CONFIGURATION, ROW = "configuration", "row"
"""The factors whose levels are listed configurations, and the rows of a published table."""


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


def collection_for(
    key: str,
    *,
    title: str = "",
    configurations: Sequence[Mapping[str, Json]] = ({},),
    table: str = "",
    agents: Mapping[str, Mapping[str, Json]] | Sequence[str] = (),
    seats: Mapping[str, Json] | None = None,
    asking: Mapping[str, Json] | None = None,
    instructions: str = "",
    **parts: Json,
) -> dict[str, Json]:
    """Return the plan of a collection.

    Args:
        configurations: of the game; several are the levels of a factor.
        table: a published table of the game, whose rows are played instead.
        agents: by label, or specifications, such as "script:fair", which are their labels; the game's default script
            if there are none.
        seats: the rule of the line-ups; every ordered choice of the agents by default.
        asking: how specifications that are models are asked.
        parts: further parts of the plan, such as `repetitions`.
    """
    kind = registry.get(key)
    specs = agents if not isinstance(agents, Mapping) else ()
    by_label: dict[str, Any] = {spec: agent_like(asking or {}, spec) for spec in specs}
    by_label |= agents if isinstance(agents, Mapping) else {}
    config: Any = dict(configurations[0]) if configurations else {}
    factors: dict[str, Any] = {}
    if table:
        factors, config = {ROW: {"rows": {"game": key, "table": table}}}, {"by": f"{ROW}.config"}
    elif len(configurations) > 1:
        levels = {f"c{number}": dict(config) for number, config in enumerate(configurations, start=1)}
        factors, config = {CONFIGURATION: {"levels": levels}}, {"by": CONFIGURATION}
    return {
        "format": collection.FORMAT,
        "version": collection.FORMAT_VERSION,
        "title": title or str(kind.title),
        **({"factors": factors} if factors else {}),
        "agents": by_label or {kind.default_script: {"script": kind.default_script}},
        "journey": [
            {
                "stage": "game",
                "game": key,
                "config": config,
                "seats": dict(seats or {"rule": "product"}),
                **({"instructions": instructions} if instructions else {}),
            }
        ],
        **parts,
    }
