"""A pilot on the live stack: its worker is killed midway, and everyone still goes through once."""

from __future__ import annotations

import time

import pytest

from opponents.agents import agents_from_specs

pytestmark = pytest.mark.services
PEOPLE, PATIENCE = 10, 240.0


def test_pilot_continues_when_its_worker_is_killed(stack):
    study = {"title": "Piloted", "game": "bargaining", "config": {"rounds": 12}, "roles": ["alice", "bob"]}
    stack.launch_study({**study, "slug": "piloted", "agents": agents_from_specs("script:haggler")})
    number = stack.call("tests.actions.begin_pilot", "piloted", PEOPLE)
    until(stack, number, lambda now: now["ended"] >= 3)
    stack.kill("collector")
    now = until(stack, number, lambda now: now["status"] != "running")
    assert now == {
        "status": "done",
        "ended": PEOPLE,
        "completed": PEOPLE,
        "stuck": [],
        "enrolments": PEOPLE,
        "matches": PEOPLE,
    }


def until(stack, pilot: int, holds) -> dict:
    end = time.monotonic() + PATIENCE
    while not holds(now := stack.call("tests.actions.pilot_now", pilot)):
        assert time.monotonic() < end, now
        time.sleep(0.3)
    return now
