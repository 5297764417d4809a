"""Whose prompts a collection's are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from collecting.planning import settings_in
from games import registry
from games.play import configure
from studies.previewing import Subject


def subject_of(content: Mapping[str, Any]) -> Subject:
    """A collection with this content: every agent in every role of every configuration."""
    settings, game = settings_in(content), registry.get(content["game"])
    seated = [agent for seats in content["assignments"] for agent in seats.values()]
    return Subject(
        game=content["game"],
        settings=settings,
        agents=tuple(dict.fromkeys([*seated, *settings.fallbacks])),
        places=tuple((config, configure(game, config).roles()) for config in content["configurations"]),
        instructions=content["texts"]["instructions"] if content["edited"] else "",
    )
