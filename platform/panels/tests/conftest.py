"""Fixtures: a study, its panel from a preset, and the stand-in for the panel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def panel_of(db: None) -> Iterator[Callable[..., Any]]:
    """Set up a study for a preset; return its panel and the running stand-in server."""
    from contextlib import ExitStack

    from exports.tests import building
    from panels import presets
    from panels.models import Panel
    from panels.standin.server import StandIn
    from panels.tests.staging import destinations_at
    from studies.models import Study

    with ExitStack() as stack:

        def set_up(
            key: str = "any_site", *, study: dict[str, Any] | None = None, **fields: Any
        ) -> tuple[Panel, StandIn]:
            preset = presets.get(key)
            existing = Study.objects.filter(slug="splitting").first()
            panel_study = existing or building.new_study(via="panel", **(study or {}))
            standin = stack.enter_context(StandIn(preset, study="http://testserver/join/splitting"))
            copied_names = ("person", "task", "session", "pays", "columns", "lasting")
            defaults = {name: getattr(preset, name) for name in copied_names} | destinations_at(key, standin)
            panel = Panel(
                study=panel_study, preset=key, title=str(preset.title), sites=standin.address, **{**defaults, **fields}
            )
            panel.full_clean(exclude=["study"])
            panel.save()
            return panel, standin

        yield set_up
