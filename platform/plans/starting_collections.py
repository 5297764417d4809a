"""The plan that a new collection begins with, or that a command describes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games import registry
from games.interface import Json
from plans.collection import FORMAT, FORMAT_VERSION
from plans.library import agent_like

CONFIGURATION, ROW = "configuration", "row"
"""The factors whose levels are listed configurations, and the rows of a published table."""


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
        "format": FORMAT,
        "version": FORMAT_VERSION,
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
