"""Three hundred people at the door of a study at once, over HTTP, and the places of those who leave given again."""

from __future__ import annotations

import asyncio
from collections import Counter

import httpx
import pytest

pytestmark = pytest.mark.services

ARRIVALS, QUOTA = 300, 50
PATIENCE = 240.0
"""Seconds that one of them may wait for an answer on a machine that is busy with others."""


def test_quotas_are_kept_and_no_place_is_lost(stack):
    study = {
        "slug": "rush",
        "title": "Rush",
        "game": "bargaining",
        "design": {"grid": {"rounds": [1, 12]}},
        "roles": ["alice", "bob"],
        "quota": QUOTA,
        "entry": "mturk",
        "agent": "script:fair",
    }
    stack.launch_study(study)
    places = 4 * QUOTA

    first = asyncio.run(all_at_once(stack.url, range(ARRIVALS)))
    let_in = [answer.headers["location"] for answer in first if answer.status_code == 302]
    turned_away = [answer for answer in first if answer.status_code == 403]
    assert len(let_in) == len(set(let_in)) == places
    assert len(turned_away) == ARRIVALS - places
    assert all("All places are taken" in answer.text and "try again later" in answer.text for answer in turned_away)
    full = {f"{rounds}/{role}": QUOTA for rounds in (0, 1) for role in ("alice", "bob")}
    assert held(stack) == full

    leaving = let_in[::4]
    asyncio.run(all_leave(stack.url, leaving))
    open_again = held(stack)
    assert sum(open_again.values()) == places - len(leaving)

    second = asyncio.run(all_at_once(stack.url, range(ARRIVALS, 2 * ARRIVALS)))
    assert Counter(answer.status_code for answer in second) == {302: len(leaving), 403: ARRIVALS - len(leaving)}
    assert held(stack) == full


def held(stack) -> dict[str, int]:
    """How many hold a place, by configuration and role."""
    return stack.call("tests.deeds.held_places", "rush")


async def all_at_once(url: str, people: range) -> list[httpx.Response]:
    """Everybody follows the link of their assignment in the same moment."""
    async with client(url) as session:

        async def arrive(i: int) -> httpx.Response:
            link = {"workerId": f"W{i}", "assignmentId": f"A{i}", "hitId": "H"}
            return await session.get("/join/rush/", params=link)

        return await asyncio.gather(*map(arrive, people))


async def all_leave(url: str, pages: list[str]) -> None:
    """Everybody on these pages says that they want to leave."""
    async with client(url) as session:
        answers = await asyncio.gather(*(session.post(f"{page}leave/") for page in pages))
    assert {answer.status_code for answer in answers} == {302}


def client(url: str) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=ARRIVALS, max_keepalive_connections=ARRIVALS)
    return httpx.AsyncClient(base_url=url, limits=limits, timeout=PATIENCE)
