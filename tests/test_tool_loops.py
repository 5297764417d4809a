"""When workers are killed during turns with tools, periods continue, moves are made once, and calls are kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from llm_agents.standins import Calls, OpenAIStandIn, Slow

pytestmark = [pytest.mark.services, pytest.mark.slow]

PERIODS, KILLS = 6, 3
CALLS = (
    Calls((("get_product_ids", "{}"),)),
    Calls((("write_notes", '{"notes": "five is a price"}'),)),
    Calls((("get_attempt_number", "{}"),)),
    Calls((("set_prices", '{"prices": {"Product_1": 5}}'),)),
)
TIMEOUT = 90.0
"""Seconds within which the match must end, kills included."""


@contextmanager
def slow_model(stack, name: str) -> Iterator[OpenAIStandIn]:
    """Serve a slow model that in every period looks up data, takes a note, looks up data again and submits."""

    def answer(request) -> Slow:
        calls = sum(message["role"] == "assistant" for message in request["messages"])
        return Slow(0.4, CALLS[calls])

    with OpenAIStandIn(answer) as standin:
        stack.call("tests.actions.add_endpoint", name, standin.environment["OPENAI_BASE_URL"])
        yield standin


def kill_repeatedly(stack, service: str, standin: OpenAIStandIn, is_over: Callable[[], bool]) -> None:
    """Kill the service at a different call of each of several periods, then wait until the match is over."""
    deadline = time.monotonic() + TIMEOUT
    for number in range(KILLS):
        expected = len(standin.requests) + 2 + number  # each time during another call of a period
        while len(standin.requests) < expected:
            assert time.monotonic() < deadline, f"only {len(standin.requests)} calls arrived"
            time.sleep(0.05)
        stack.kill(service)
    while not is_over():
        assert time.monotonic() < deadline, "the match did not continue"
        time.sleep(0.3)


def test_live_match_continues(stack):
    with slow_model(stack, "loops-live") as standin:
        match = stack.call("tests.actions.open_tool_match", "loops-live:any", PERIODS)
        kill_repeatedly(
            stack, "worker", standin, lambda: stack.call("tests.actions.summarise_tool_match", match)["over"]
        )
        summary = stack.call("tests.actions.summarise_tool_match", match)
        check_complete(summary, len(standin.requests))


def test_collection_match_continues(stack):
    with slow_model(stack, "loops-collected") as standin:
        slug = stack.call("tests.actions.start_tool_collection", "loops", "loops-collected:any", PERIODS)

        def summary() -> dict:
            return stack.call("tests.actions.summarise_tool_match", stack.call("tests.actions.tool_match_of", slug))

        kill_repeatedly(stack, "collector", standin, lambda: summary()["over"])
        check_complete(summary(), len(standin.requests))


def check_complete(summary: dict, calls: int) -> None:
    """Check that the model submitted each period once, and that every finished call was recorded."""
    assert summary["status"] == "finished"
    assert summary["submissions"] == PERIODS and not summary["by_others"]
    assert summary["replayed"] and summary["differences"] == []
    assert summary["played"] == PERIODS, "one call per period must be its move"
    assert PERIODS <= summary["notes"] <= PERIODS + KILLS
    assert calls - KILLS <= summary["calls"] <= calls
