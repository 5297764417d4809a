"""On a live stack, our outages cost nobody time: clocks stand still while web or Redis is down."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

pytestmark = [pytest.mark.services, pytest.mark.slow]

TURN = 30
JSON = {"accept": "application/json"}
SLACK = 6
"""Seconds that a restart and the two seconds between sweeps may add."""


def seated(stack, slug: str) -> list[str]:
    """Return the pages of four people in the first sealed round of one match."""
    stack.call(
        "tests.meeting.launch_contest", slug, config={"players": 4, "runs": 1}, turn_seconds=TURN, extension_seconds=0
    )
    paths = [stack.call("tests.meeting.reach_lobby", slug) for _person in range(4)]
    with httpx.Client(base_url=stack.url, follow_redirects=True) as client:
        until(lambda: all([_in_match(client, path) for path in paths]))
    return paths


def _in_match(client: httpx.Client, path: str) -> bool:
    if 'id="screen"' in client.get(path).text:
        return True
    client.get(f"{path}lobby")
    return False


def until(condition: Callable[[], bool], patience: float = 60) -> None:
    deadline = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.5)


def remaining(stack, path: str) -> int:
    return httpx.get(f"{stack.url}{path}match", headers=JSON, timeout=10).json()["remaining"]


def answer(stack, path: str) -> str:
    """Answer the open turn as the page does; return the outcome."""
    url = f"{stack.url}{path}match"
    frame = httpx.get(url, headers=JSON, timeout=10).json()
    move = {"answering": frame["answering"], "answer": 10}
    return httpx.post(url, data=move, headers=JSON, timeout=10).json()["outcome"]["type"]


@pytest.mark.parametrize("service", ["web", "redis"])
def test_nobody_loses_time_while_the_server_is_unavailable(stack, service):
    paths = seated(stack, f"fair-{service}")
    before = min(remaining(stack, path) for path in paths)
    assert before > 15
    stack.halt(service)
    began = time.monotonic()
    time.sleep(30)
    stack.restart(service)
    until(stack.is_healthy)
    down = time.monotonic() - began
    after = [remaining(stack, path) for path in paths]
    assert down >= 30 and min(after) >= before - SLACK
    time.sleep(max(0, min(after) - 5))  # the limit without the outage has passed
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda path: answer(stack, path), paths)) == ["taken"] * 4
    assert stack.call("tests.meeting.outcome_summary", f"fair-{service}")["matches"] == {"finished": 1}
