"""Reading frozen versions of any format.

Format 2 names its agents and line-ups. Earlier versions have no format: one participant played against one
agent, which each cell repeats for every seat that is not the participant's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.interface import Role
from opponents.agents import PERSON, Agent, parse_agents

FORMAT = 2
Content = Mapping[str, Any]


def agents_in(content: Content) -> dict[str, Agent]:
    """Return a version's agents by label; in earlier formats, the labels are their specifications."""
    if "format" in content:
        return parse_agents(content["agents"])
    agent_entries = (entry for cell in content["cells"] for entry in cell["agents"].values())
    return {entry["agent"]: agent_of(entry) for entry in agent_entries}


def seats_in(cell: Content) -> dict[Role, str | list[str]]:
    """Return the line-up of one of a version's cells."""
    if "seats" in cell:
        return dict(cell["seats"])
    return {cell["role"]: PERSON, **{role: entry["agent"] for role, entry in cell["agents"].items()}}


def agent_of(entry: Content) -> Agent:
    """Return an agent as cells and steps of earlier formats wrote it."""
    return Agent(spec=entry["agent"], delay=entry.get("delay", 0), settings=entry.get("settings", {}))
