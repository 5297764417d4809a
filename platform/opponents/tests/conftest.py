"""Endpoints in memory and keys in the environment are reset after each test."""

from __future__ import annotations

import pytest

from llm_agents import breaker
from llm_agents.endpoints import PRESETS, use_endpoints


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch):
    from opponents import circuits
    from opponents.endpoints import MEMORY, Memory

    for preset in PRESETS.values():
        if preset.key_variable:
            monkeypatch.delenv(preset.key_variable, raising=False)
    monkeypatch.setattr(MEMORY, "__dict__", vars(Memory()))
    use_endpoints(MEMORY.get)
    yield
    circuits.wait_until_written()
    breaker.reset()
