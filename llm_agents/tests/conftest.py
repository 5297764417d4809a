"""Each test starts without the state that calls leave in the process."""

from __future__ import annotations

import pytest

from llm_agents import breaker
from llm_agents.endpoints import use_endpoints
from llm_agents.providers.base import UNSUPPORTED


@pytest.fixture(autouse=True)
def fresh_process():
    _forget_calls()  # another app's tests, in the same process, may have left endpoints of theirs
    yield
    _forget_calls()


def _forget_calls() -> None:
    breaker.reset()
    UNSUPPORTED.clear()
    use_endpoints(lambda name: None)
