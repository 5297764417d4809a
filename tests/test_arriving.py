"""Many participants arrive at once over HTTP, and places that participants leave are given to others."""

from __future__ import annotations

import asyncio

import httpx
import pytest

pytestmark = pytest.mark.services

PATIENCE = 240.0
"""Seconds that a response may take on a busy machine."""


@pytest.mark.slow
@pytest.mark.parametrize("quota", [10, 20])
def test_quotas_hold_and_released_places_are_refilled(stack, quota: int):
    slug, places, arriving, late = f"rush-{quota}", 4 * quota, 6 * quota, quota
    study = {
        "slug": slug, "title": "Rush", "grid": {"rounds": [1, 12]}, "roles": ["alice", "bob"], "quota": quota,
        "via": "mturk", "agents": "script:fair",
    }  # fmt: skip
    stack.launch_study(study)

    first_answers = asyncio.run(open_all_links(stack.url, slug, range(arriving)))
    pages = [answer.headers["location"] for answer in first_answers]
    assert len(set(pages)) == arriving
    full_cells = dict.fromkeys(["1/alice", "2/alice", "3/bob", "4/bob"], quota)
    admitted = asyncio.run(consent_all(stack.url, pages))
    assert len(admitted) == places
    asyncio.run(name_all(stack.url, admitted))
    assert places_held(stack, slug) == full_cells

    late_answers = asyncio.run(open_all_links(stack.url, slug, range(arriving, arriving + late)))
    assert {answer.status_code for answer in late_answers} == {403}
    assert all("All places are taken" in answer.text and "try again later" in answer.text for answer in late_answers)

    withdrawn = admitted[::4]
    asyncio.run(withdraw_all(stack.url, withdrawn))
    after_withdrawals = places_held(stack, slug)
    assert sum(after_withdrawals.values()) == places - len(withdrawn)

    second_answers = asyncio.run(open_all_links(stack.url, slug, range(arriving + late, arriving + 4 * late)))
    readmitted = asyncio.run(consent_all(stack.url, [answer.headers["location"] for answer in second_answers]))
    assert len(readmitted) == len(withdrawn)
    asyncio.run(name_all(stack.url, readmitted))
    assert places_held(stack, slug) == full_cells


def places_held(stack, slug: str) -> dict[str, int]:
    """Return how many participants hold a place, by cell and role."""
    return stack.call("tests.actions.held_places", slug)


async def open_all_links(url: str, slug: str, people: range) -> list[httpx.Response]:
    """Open all assignment links at the same moment."""
    async with client(url) as session:

        async def arrive(i: int) -> httpx.Response:
            link = {"workerId": f"W{i}", "assignmentId": f"A{i}", "hitId": "H"}
            return await session.get(f"/join/{slug}/", params=link)

        return await asyncio.gather(*map(arrive, people))


async def consent_all(url: str, pages: list[str]) -> list[str]:
    """Consent on all pages at the same moment; return the pages of participants who got a place."""
    async with client(url) as session:
        await asyncio.gather(*(session.post(page, data={"position": "0", "agree": "yes"}) for page in pages))
        answers = await asyncio.gather(*(session.get(page) for page in pages))
    return [page for page, answer in zip(pages, answers, strict=True) if 'name="position" value="1"' in answer.text]


async def name_all(url: str, pages: list[str]) -> None:
    """Choose a name on all pages at the same moment: the cells are drawn."""
    async with client(url) as session:
        answers = await asyncio.gather(*(session.post(page, data={"position": "1", "name": "Robin"}) for page in pages))
    assert {answer.status_code for answer in answers} == {302}


async def withdraw_all(url: str, pages: list[str]) -> None:
    """Withdraw the participants of all these pages."""
    async with client(url) as session:
        answers = await asyncio.gather(*(session.post(f"{page}leave/") for page in pages))
    assert {answer.status_code for answer in answers} == {302}


def client(url: str) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=120, max_keepalive_connections=0)
    return httpx.AsyncClient(base_url=url, limits=limits, timeout=PATIENCE)
