"""Many people start a scheduled session together."""

from __future__ import annotations

import pytest

from tests.session_crowd import crowd

STACKS = ("sqlite", "postgres")
WITHIN = 5.0
"""Seconds between the first and the last person's start."""


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_200_people_start_within_seconds_and_those_without_a_place_are_told(stack):
    started = crowd(stack, "crowd", people=210, places=200)
    print(f"late {started.late:.1f} s, told within {started.told[-1]:.1f} s, begun within {started.begun[-1]:.1f} s")
    assert (len(started.begun), started.listed) == (200, 10)
    assert started.told[-1] <= WITHIN
    assert started.begun[-1] - started.begun[0] <= WITHIN
