"""A hung model delays only its own opponents."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from llm_agents.standins import OpenAIStandIn
from llm_agents.standins.misbehaviours import Hang
from studies.tests import kit
from tests import players

pytestmark = pytest.mark.services
THREADS = 16
"""Threads of the stack's worker; more people than this wait for the hung model."""
MAX_REPLY_MS = 10_000
"""Maximum time of a reply in milliseconds; one that waited for a thread would take as long as the model hangs."""


@pytest.fixture
def hung_study(stack) -> Iterator[str]:
    """Launch a study in which 20 people have just moved against a model that gives no answer for a minute."""
    with OpenAIStandIn([Hang(60)]) as standin:
        stack.call("tests.actions.add_endpoint", "never", f"http://127.0.0.1:{standin.port}/v1")
        stack.launch_study(
            {
                "slug": "beside-hung",
                "title": "Hung",
                "agents": {"never:any": kit.agent("never:any", **{"call_seconds": 60.0, "limit_seconds": 120.0})},
            }
        )
        for _person in range(THREADS + 4):
            stack.move(stack.reach_first_turn("beside-hung"), "random")
        yield "beside-hung"


@pytest.mark.slow
def test_hung_models_do_not_delay_other_matches(stack, hung_study):
    stack.call("tests.actions.launch_endless", "beside-others")
    measured = asyncio.run(
        players.run(players.Server(stack.url, "/join/beside-others/"), workers=4, thinking=0.5, seconds=8)
    )
    assert measured.errors == []
    assert len(measured.times) >= 4
    assert max(measured.times) * 1000 < MAX_REPLY_MS
    assert stack.moves(hung_study) == ["offer"] * (THREADS + 4)
