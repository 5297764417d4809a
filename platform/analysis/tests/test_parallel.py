"""Several processes give the same results as one, in order, even if processes die."""

from __future__ import annotations

import multiprocessing
import os

import pytest

from analysis.parallel import MAX_PENDING, in_order

CHUNK = 3


def doubled(number: int) -> int:
    return 2 * number


def doubled_in_caller(number: int) -> int:
    """Double the number in the calling process; kill every other process at once."""
    if multiprocessing.parent_process() is not None:
        os._exit(1)
    return 2 * number


@pytest.mark.parametrize("caller_works", [False, True])
@pytest.mark.parametrize("work", [doubled, doubled_in_caller])
def test_results_are_in_order_even_if_a_process_is_killed(work, caller_works):
    results = list(in_order(work, range(200), processes=2, chunk=CHUNK, caller_works=caller_works))
    assert results == [2 * number for number in range(200)]


@pytest.mark.parametrize("caller_works", [False, True])
def test_items_are_taken_only_as_needed(caller_works):
    items = iter(range(1, 10_000))
    results = in_order(doubled, items, processes=2, chunk=CHUNK, caller_works=caller_works)
    assert next(results) == 2
    results.close()
    assert next(items) <= (MAX_PENDING + 1) * CHUNK


def test_one_queued_chunk_leaves_one_to_the_caller():
    assert list(in_order(is_caller, range(2), processes=2, chunk=1, caller_works=True, queued=1)) == [False, True]


def is_caller(_number: int) -> bool:
    """Return whether the calling process does the work."""
    return multiprocessing.parent_process() is None
