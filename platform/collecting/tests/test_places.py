"""A driver begins as many matches as keep its places taken, and no more."""

from __future__ import annotations

import asyncio

import pytest

from collecting import places
from collecting.places import Places


@pytest.fixture
def measured(monkeypatch):
    """Return (number of places, seconds per request, seconds between requests) → matches in progress."""
    clock = [0.0]
    monkeypatch.setattr(places.time, "monotonic", lambda: clock[0])

    async def ask(of_driver, seconds: float, between: float) -> int:
        place = of_driver.for_match()
        for _request in range(10):
            async with place():
                clock[0] += seconds
            clock[0] += between
        return of_driver.matches

    return lambda number, *times: asyncio.run(ask(Places(lambda: number), *times))


@pytest.mark.parametrize(
    ("number", "seconds", "between", "matches"),
    [
        (10, 5.0, 0.05, 10),  # a slow model is asked nearly all the time
        (1, 5.0, 0.05, 1),
        (10, 0.05, 0.01, 14),
        (1, 0.05, 0.01, 2),
        (10, 0.05, 1.0, 22),  # at most twice as many, and two
    ],
)
def test_more_matches_than_places_are_in_progress_if_models_are_fast(measured, number, seconds, between, matches):
    assert measured(number, seconds, between) == matches


def test_places_are_those_of_matches_at_first():
    assert Places(lambda: 7).matches == 7


def test_no_more_agents_are_asked_at_once_than_there_are_places_now():
    number, asked, most = [3], [], []

    async def ask(place) -> None:
        async with place():
            asked.append(None)
            most.append(len(asked))
            await asyncio.sleep(0)
            asked.pop()

    async def ask_many() -> None:
        of_driver = Places(lambda: number[0])
        for number[0] in (3, 5):
            most.clear()
            await asyncio.gather(*(ask(of_driver.for_match()) for _match in range(20)))
            assert max(most) == number[0]

    asyncio.run(ask_many())
