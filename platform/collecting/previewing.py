"""The prompts of a collection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collecting.formats import agents_in
from games import registry
from games.play import configure
from opponents.agents import Agent
from studies.previewing import PreviewSource


def preview_source(content: Mapping[str, Any]) -> PreviewSource:
    """Return every agent of a collection, with its fallbacks, in every role of every configuration."""
    game, agents = registry.get(content["game"]), agents_in(content)
    fallbacks = {
        spec: Agent(spec=spec, settings=agent.settings)
        for agent in agents.values()
        if not agent.scripted
        for spec in agent.settings.fallbacks
    }
    return PreviewSource(
        game=content["game"],
        agents={**fallbacks, **agents},
        configurations=tuple((config, configure(game, config).roles()) for config in content["configurations"]),
        instructions=content["texts"]["instructions"] if content["edited"] else "",
    )
