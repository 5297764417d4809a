"""Whatever is killed, the match goes on by itself within 15 seconds and has exactly one reply per turn."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page

from tests import walking

pytestmark = pytest.mark.browser

WITHIN = 15.0
"""Seconds after which the match must have gone on."""


@pytest.fixture
def thinking(stack, page: Page, request) -> str:
    """A match in which alice has just made an offer and the agent thinks about it for two seconds."""
    slug = stack.launch_study(
        {
            "slug": f"faults-{request.node.name.split('[')[0].replace('_', '-')}"[:50],
            "title": "Faults",
            "game": "bargaining",
            "config": {"rounds": 12},
            "roles": ["alice"],
            "agent": "script:fair",
            "agent_delay": 2,
            "entry": "codes",
        }
    )
    walking.enter(page, f"{stack.url}/join/{slug}?code={stack.lab_code(slug)}")
    walking.consent_and_name(page)
    walking.read_instructions(page)
    walking.expect_turn(page, "offer")
    walking.offer(page, "9900", "100", role="alice")
    time.sleep(0.7)
    return slug


def replies_after(stack, slug: str, seconds: float = WITHIN) -> list[str]:
    """The moves once the agent has rejected and made its own offer."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        moves = stack.moves(slug)
        if len(moves) >= 3:
            return moves
        time.sleep(0.2)
    return stack.moves(slug)


def test_the_worker_is_killed_while_the_agent_thinks(stack, page: Page, thinking: str):
    stack.kill("worker")
    assert replies_after(stack, thinking) == ["offer", "reject", "offer"]
    walking.expect_turn(page, "answer")
    time.sleep(5)
    assert stack.moves(thinking) == ["offer", "reject", "offer"]


def test_redis_is_killed_while_the_agent_thinks(stack, page: Page, thinking: str):
    stack.kill("redis")
    assert replies_after(stack, thinking) == ["offer", "reject", "offer"]
    walking.expect_turn(page, "answer")
    walking.answer(page, "reject")
    walking.expect_turn(page, "offer")
    walking.offer(page, "9900", "100", role="alice")
    walking.expect_turn(page, "answer")
    assert stack.moves(thinking) == ["offer", "reject", "offer", "reject", "offer", "reject", "offer"]


def test_the_web_server_is_killed_while_the_agent_thinks(stack, page: Page, thinking: str):
    stack.kill("web")
    assert replies_after(stack, thinking) == ["offer", "reject", "offer"]
    walking.expect_turn(page, "answer")
    walking.answer(page, "reject")
    walking.expect_turn(page, "offer")
    assert stack.moves(thinking) == ["offer", "reject", "offer", "reject"]
