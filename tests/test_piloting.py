"""A pilot on a live stack finishes, with everyone going through once, although its worker is killed midway."""

from __future__ import annotations

import time

import pytest

pytestmark = pytest.mark.services
PEOPLE, PATIENCE = 10, 240.0


@pytest.mark.slow
def test_pilot_continues_when_its_worker_is_killed(stack):
    study = {"title": "Piloted", "config": {"rounds": 12}, "roles": ["alice", "bob"]}
    stack.launch_study({**study, "slug": "piloted", "agents": "script:haggler"})
    number = stack.call("tests.actions.begin_pilot", "piloted", PEOPLE)
    wait_until(stack, number, lambda progress: progress["ended"] >= 3)
    stack.kill("collector")
    progress = wait_until(stack, number, lambda progress: progress["status"] != "running")
    assert progress == {
        "status": "done", "ended": PEOPLE, "completed": PEOPLE, "stuck": [], "enrolments": PEOPLE, "matches": PEOPLE,
    }  # fmt: skip


def wait_until(stack, pilot: int, condition) -> dict:
    end = time.monotonic() + PATIENCE
    while not condition(progress := stack.call("tests.actions.pilot_progress", pilot)):
        assert time.monotonic() < end, progress
        time.sleep(0.3)
    return progress
