"""The prompts of a collection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collecting.formats import agents_in
from games import registry
from games.play import configure
from studies.previewing import PreviewSource, Situation, with_fallbacks


def preview_source(content: Mapping[str, Any]) -> PreviewSource:
    """Return every agent of a collection, with its fallbacks, in every role of every configuration."""
    game, agents = registry.get(content["game"]), with_fallbacks(agents_in(content))
    configurations = content["configurations"]

    def situation(number: int) -> Situation:
        config = configurations[number - 1]
        return Situation(
            game=content["game"],
            config=config,
            agents=agents,
            roles=configure(game, config).roles(),
            instructions=content["texts"]["instructions"] if content["edited"] else "",
        )

    return PreviewSource(len(configurations), situation)
