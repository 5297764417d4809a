"""Many requests at once run the same work at most twice, and each is covered by a run that began after it."""

from __future__ import annotations

import threading

import pytest

from lobby.coalescing import Coalesced


def test_requests_that_wait_are_covered_by_the_first_of_them():
    runs: list[str] = []
    is_running, may_end = threading.Event(), threading.Event()

    def work(pool: str) -> None:
        runs.append(pool)
        is_running.set()
        assert may_end.wait(10)
        update(pool)  # from inside: covered by this run

    update = Coalesced(work)
    returned = threading.Semaphore(0)
    threads = [threading.Thread(target=lambda: (update("a"), returned.release())) for _request in range(6)]
    threads[0].start()
    assert is_running.wait(10)
    for thread in threads[1:]:
        thread.start()
    for _request in range(4):
        assert returned.acquire(timeout=10), "one waits for its turn; the others return at once"
    assert runs == ["a"]
    may_end.set()
    for thread in threads:
        thread.join(10)
    assert runs == ["a", "a"]
    update("b")
    assert runs == ["a", "a", "b"]


def test_a_failure_leaves_the_turn_free():
    outcomes = iter([ValueError, None])

    def work() -> None:
        if error := next(outcomes):
            raise error

    update = Coalesced(work)
    with pytest.raises(ValueError):
        update()
    update()
    assert next(outcomes, "no more") == "no more"
