"""A study, its panel from a preset, and the stand-in that plays the panel."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture
def panel_of(db: None) -> Iterator[Callable[..., Any]]:
    """Sets a study up for the people of a preset; its panel and the running twin."""
    from contextlib import ExitStack

    from exports.tests import building
    from panels import presets
    from panels.models import Panel
    from panels.tests.staging import leads_at
    from panels.twin.server import Twin
    from studies.models import Study

    with ExitStack() as stack:

        def made(key: str = "any_site", *, study: dict[str, Any] | None = None, **fields: Any) -> tuple[Panel, Twin]:
            preset = presets.get(key)
            found = Study.objects.filter(slug="splitting").first()
            where = found or building.new_study(entry="panel", **(study or {}))
            twin = stack.enter_context(Twin(preset, study="http://testserver/join/splitting"))
            filled_in = ("person", "task", "session", "pays", "columns", "lasting")
            usual = {name: getattr(preset, name) for name in filled_in} | leads_at(key, twin)
            panel = Panel(study=where, preset=key, title=str(preset.title), sites=twin.address, **{**usual, **fields})
            panel.full_clean(exclude=["study"])
            panel.save()
            return panel, twin

        yield made
