"""A rush of arrivals at a study, over HTTP, and the reassignment of places that participants leave."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from opponents.agents import agents_from_specs

pytestmark = pytest.mark.services

ARRIVALS, QUOTA, LATE = 120, 20, 30
PATIENCE = 240.0
"""Seconds that a response may take on a machine that is busy with others."""


def test_quotas_hold_and_no_place_is_lost(stack):
    study = {
        "slug": "rush",
        "title": "Rush",
        "game": "bargaining",
        "design": {"grid": {"rounds": [1, 12]}},
        "roles": ["alice", "bob"],
        "quota": QUOTA,
        "entry": "mturk",
        "agents": agents_from_specs("script:fair"),
    }
    stack.launch_study(study)
    places = 4 * QUOTA

    first = asyncio.run(all_at_once(stack.url, range(ARRIVALS)))
    pages = [answer.headers["location"] for answer in first]
    assert len(set(pages)) == ARRIVALS
    full = {f"{rounds}/{role}": QUOTA for rounds in (0, 1) for role in ("alice", "bob")}
    let_in = asyncio.run(all_agree(stack.url, pages))
    assert len(let_in) == places
    assert held(stack) == full

    late = asyncio.run(all_at_once(stack.url, range(ARRIVALS, ARRIVALS + LATE)))
    assert {answer.status_code for answer in late} == {403}
    assert all("All places are taken" in answer.text and "try again later" in answer.text for answer in late)

    leaving = let_in[::4]
    asyncio.run(all_leave(stack.url, leaving))
    open_again = held(stack)
    assert sum(open_again.values()) == places - len(leaving)

    second = asyncio.run(all_at_once(stack.url, range(ARRIVALS + LATE, ARRIVALS + 3 * LATE)))
    taken = asyncio.run(all_agree(stack.url, [answer.headers["location"] for answer in second]))
    assert len(taken) == len(leaving)
    assert held(stack) == full


def held(stack) -> dict[str, int]:
    """Return how many participants hold a place, by configuration and role."""
    return stack.call("tests.actions.held_places", "rush")


async def all_at_once(url: str, people: range) -> list[httpx.Response]:
    """Open all assignment links at the same moment."""
    async with client(url) as session:

        async def arrive(i: int) -> httpx.Response:
            link = {"workerId": f"W{i}", "assignmentId": f"A{i}", "hitId": "H"}
            return await session.get("/join/rush/", params=link)

        return await asyncio.gather(*map(arrive, people))


async def all_agree(url: str, pages: list[str]) -> list[str]:
    """Consent for everyone at the same moment; return the pages of those who got a place."""
    async with client(url) as session:
        await asyncio.gather(*(session.post(page, data={"position": "0", "agree": "yes"}) for page in pages))
        shown = await asyncio.gather(*(session.get(page) for page in pages))
    return [page for page, answer in zip(pages, shown, strict=True) if 'name="position" value="1"' in answer.text]


async def all_leave(url: str, pages: list[str]) -> None:
    """Withdraw all participants of these pages."""
    async with client(url) as session:
        answers = await asyncio.gather(*(session.post(f"{page}leave/") for page in pages))
    assert {answer.status_code for answer in answers} == {302}


def client(url: str) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=ARRIVALS, max_keepalive_connections=0)
    return httpx.AsyncClient(base_url=url, limits=limits, timeout=PATIENCE)
