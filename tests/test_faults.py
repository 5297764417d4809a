"""When a service is killed, the match continues within 15 seconds and has exactly one reply per turn."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page

from studies.tests import kit
from tests import walking

pytestmark = pytest.mark.browser

RECOVERY_SECONDS = 15.0
"""Seconds within which the match must continue."""
AGENT_DELAY = 2
"""Seconds that the agent takes for each move."""


@pytest.fixture
def thinking_match(stack, page: Page, request) -> str:
    """Start a match in which alice has just made an offer and the agent is thinking; return the study's short name."""
    slug = stack.launch_study(
        {
            "slug": f"faults-{request.node.name.split('[')[0].replace('_', '-')}"[:50],
            "title": "Faults",
            "config": {"rounds": 12},
            "agents": {"script:fair": kit.agent("script:fair", delay=AGENT_DELAY)},
        }
    )
    walking.enter_game(stack, page, slug)
    walking.expect_turn(page, "offer")
    walking.offer(page, "9900", "100", role="alice")
    time.sleep(0.7)
    return slug


def replies_after(stack, slug: str) -> list[str]:
    """Return the moves after the agent has rejected the offer in time and made its own."""
    moves_until(stack, slug, 2, RECOVERY_SECONDS)
    return moves_until(stack, slug, 3, RECOVERY_SECONDS)


def moves_until(stack, slug: str, number: int, seconds: float) -> list[str]:
    """Return the moves as soon as there are this many; fail after this many seconds."""
    deadline = time.monotonic() + seconds
    while len(moves := stack.moves(slug)) < number and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(moves) >= number, f"after {seconds} s only: {stack.call('tests.actions.move_data', slug)}"
    return moves


def test_match_continues_after_worker_is_killed(stack, page: Page, thinking_match: str):
    stack.kill("worker")
    assert replies_after(stack, thinking_match) == ["offer", "reject", "offer"]
    walking.expect_turn(page, "answer")
    time.sleep(5)
    assert stack.moves(thinking_match) == ["offer", "reject", "offer"]


@pytest.mark.slow
def test_match_continues_after_redis_is_killed(stack, page: Page, thinking_match: str):
    stack.kill("redis")
    assert replies_after(stack, thinking_match) == ["offer", "reject", "offer"]
    walking.expect_turn(page, "answer")
    walking.answer(page, "reject")
    walking.expect_turn(page, "offer")
    walking.offer(page, "9900", "100", role="alice")
    walking.expect_turn(page, "answer")
    assert stack.moves(thinking_match) == ["offer", "reject", "offer", "reject", "offer", "reject", "offer"]


@pytest.mark.slow
def test_match_continues_after_web_server_is_killed(stack, page: Page, thinking_match: str):
    stack.kill("web")
    assert replies_after(stack, thinking_match) == ["offer", "reject", "offer"]
    walking.expect_turn(page, "answer")
    walking.answer(page, "reject")
    walking.expect_turn(page, "offer")
    assert stack.moves(thinking_match) == ["offer", "reject", "offer", "reject"]
