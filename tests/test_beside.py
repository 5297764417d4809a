"""A hung model delays only those who play against it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from deploy.bench import workers
from llm_agents.standins import OpenAIStandIn
from llm_agents.standins.misbehaviours import Hang
from opponents.agents import agents_from_specs

pytestmark = pytest.mark.services
THREADS = 16
"""Threads of the stack's worker: more people than that wait for the hung model."""
SOON = 10_000
"""Milliseconds; a reply that waited for a thread would take as long as the model hangs."""


@pytest.fixture
def hung(stack) -> Iterator[str]:
    """Run a study against a model that gives no answer for a minute, in which 20 people have just moved."""
    with OpenAIStandIn([Hang(60)]) as standin:
        stack.call("tests.actions.add_endpoint", "never", f"http://127.0.0.1:{standin.port}/v1")
        stack.launch_study(
            {
                "slug": "beside-hung",
                "title": "Hung",
                "game": "bargaining",
                "roles": ["alice"],
                "agents": agents_from_specs("never:any", settings={"call_seconds": 60.0, "limit_seconds": 120.0}),
                "entry": "codes",
            }
        )
        for _person in range(THREADS + 4):
            stack.move(stack.sit_down("beside-hung"), "random")
        yield "beside-hung"


def test_more_hung_models_than_worker_threads_delay_nobody_else(stack, hung):
    stack.call("deploy.bench.study.launch", "beside-others")
    address = stack.url.removeprefix("http://")
    measured = asyncio.run(
        workers.run(address, "/join/beside-others/", workers=4, thinking=0.5, seconds=8, begin=lambda: None)
    )
    assert measured.errors == []
    assert len(measured.replies) >= 4
    assert max(measured.replies) * 1000 < SOON
    assert stack.moves(hung) == ["offer"] * (THREADS + 4)
