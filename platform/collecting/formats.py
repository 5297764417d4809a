"""The keys of a collection's frozen content, and how older formats are read.

Format 2: {format, game, rules_version, environment, configurations, cycle, roles, agents: {label: agent},
lineups: rule, repetitions, seeds, stages, texts, edited, prices}. In format 1, content lists its line-ups as
`assignments` of specifications with common settings (`settings`, `delay`), and the seed of a match follows from its
number. Imported collections have no line-ups.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collecting.schedule import seats_of
from llm_agents.agent import is_scripted
from opponents.agents import Agent
from plans.asking import AgentSettings, settings_of

FORMAT = 2
PATIENT = AgentSettings(limit_seconds=1800)
"""Settings of models when nobody waits for the answers."""


def current(content: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return content in the current format."""
    if content.get("format") == FORMAT or "assignments" not in content:
        return content
    settings, delay = _settings(content), content["delay"]
    specs = dict.fromkeys(spec for seats in content["assignments"] for spec in seats.values())
    agents = {spec: Agent(spec=spec, delay=delay if is_scripted(spec) else 0, settings=settings) for spec in specs}
    return {
        **content,
        "format": FORMAT,
        "environment": "",
        "cycle": 1,
        "roles": seats_of(content["game"], content["configurations"], 1),
        "agents": {spec: agent.frozen() for spec, agent in agents.items()},
        "lineups": {"rule": "listed", "listed": content["assignments"]},
        "seeds": "match",
        "stages": 1,
    }


def _settings(content: Mapping[str, Any]) -> AgentSettings:
    if "settings" in content:
        return settings_of(content["settings"])
    return AgentSettings(
        structured=False,
        tries_after_first=content["tries_after_first"],
        call_seconds=min(content["call_seconds"], 600),
        limit_seconds=PATIENT.limit_seconds,
    )


def agents_in(content: Mapping[str, Any]) -> dict[str, Agent]:
    """Return the agents by label; empty for an imported collection."""
    agents = current(content).get("agents", {})
    return {label: Agent.model_validate(agent) for label, agent in agents.items()}
