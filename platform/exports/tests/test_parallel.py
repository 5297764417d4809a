"""Several processes give the same results as one, in order, even if processes die."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from exports.parallel import HELD, in_order

CHUNK = 3


def doubled(number: int) -> int:
    return 2 * number


def doubled_by_who_asks(number: int) -> int:
    """Double the number in the calling process; kill every other process at once."""
    if multiprocessing.parent_process() is not None:
        os._exit(1)
    return 2 * number


@pytest.mark.parametrize("helping", [False, True])
@pytest.mark.parametrize("work", [doubled, doubled_by_who_asks])
def test_results_come_in_order_even_if_the_other_process_is_killed(work, helping):
    found = list(in_order(work, range(200), processes=2, chunk=CHUNK, helping=helping))
    assert found == [2 * number for number in range(200)]


@pytest.mark.parametrize("helping", [False, True])
def test_no_more_is_taken_than_is_soon_asked_for(helping):
    things = iter(range(1, 10_000))
    results = in_order(doubled, things, processes=2, chunk=CHUNK, helping=helping)
    assert next(results) == 2
    results.close()
    assert next(things) <= (HELD + 1) * CHUNK


def test_one_for_each_leaves_one_to_who_asks():
    assert list(in_order(is_who_asks, range(2), processes=2, chunk=1, helping=True, waiting=1)) == [False, True]


def is_who_asks(_number: int) -> bool:
    """Return whether the calling process does the work."""
    return multiprocessing.parent_process() is None
