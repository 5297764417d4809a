"""What is kept in memory and in the environment is gone before the next test."""

from __future__ import annotations

import pytest

from llm_agents import breaker
from llm_agents.endpoints import PRESETS, use_endpoints
from opponents import circuits
from opponents.endpoints import MEMORY, Memory

SECRET = "zk-Very.Secret/0123456789+abc="
"""A key in tests; it must turn up nowhere."""


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch):
    for preset in PRESETS.values():
        if preset.key_variable:
            monkeypatch.delenv(preset.key_variable, raising=False)
    MEMORY.__dict__.update(Memory().__dict__)
    use_endpoints(MEMORY.get)
    yield
    MEMORY.__dict__.update(Memory().__dict__)
    circuits.wait_until_written()
    circuits.forget()
    breaker.reset()
