"""Although services are killed while people meet and play, everyone is in one group, moves once and is paid once."""

from __future__ import annotations

import asyncio
import random
import re
import time

import httpx
import pytest

from tests import lobby_crowd

pytestmark = pytest.mark.services

GROUPS, RUNS = 20, 3
PEOPLE_PER_GROUP = 3
"""People per group; a scripted player is the fourth."""
PATIENCE = 400.0
"""Seconds within which everyone must have finished."""
SERVICES = ("web", "redis", "worker")
POSITION = re.compile(r'name="position" value="(\d+)"')


class Person:
    """A participant who tries again whenever the server does not answer.

    Attributes:
        where: "lobby" while they wait for others, "round" while their move is sealed and others have not moved.
    """

    def __init__(self, client: httpx.AsyncClient, path: str, may_arrive: asyncio.Event):
        self.client, self.path, self.may_arrive, self.rng = client, path, may_arrive, random.Random(path)
        self.where = ""

    async def take_part(self) -> None:
        """Continue from the instructions through lobby and game to the last page."""
        await self.may_arrive.wait()
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            await asyncio.sleep(self.rng.uniform(0.3, 1.2))
            try:
                if await self._load_and_act():
                    self.where = ""
                    return
            except httpx.HTTPError:
                continue
        raise TimeoutError(self.path)

    async def _load_and_act(self) -> bool:
        """Load the page once and act on it; return True on the last page."""
        page = (await self.client.get(self.path)).text
        self.where = "lobby" if 'id="lobby"' in page else ""
        if 'class="card earnings"' in page:
            return True
        if self.where:
            await self.client.get(f"{self.path}lobby")
        elif 'id="screen"' in page:
            frame = (await self.client.get(f"{self.path}match", headers={"accept": "application/json"})).json()
            if frame.get("over"):
                await self._submit_page(page)
            elif frame.get("answering") is not None:
                move = {"answering": frame["answering"], "answer": self.rng.randint(0, 100)}
                await self.client.post(f"{self.path}match", data=move, headers={"accept": "application/json"})
            else:
                self.where = "round"
        elif POSITION.search(page):
            await self._submit_page(page)
        return False

    async def _submit_page(self, page: str) -> None:
        position = POSITION.search(page)
        assert position is not None
        await self.client.post(self.path, data={"position": position[1]})


async def kill_services(stack, people: list[Person], last_may_arrive: asyncio.Event) -> None:
    """Kill each service while people are in the lobby, and again while they are in rounds.

    `last_may_arrive` lets the last person arrive; until then, the last group is waiting in the lobby.
    """
    for stage in ("lobby", "round"):
        for name in SERVICES:
            async with asyncio.timeout(PATIENCE):
                while not any(person.where == stage for person in people):
                    await asyncio.sleep(0.02)
            stack.kill(name)
            async with asyncio.timeout(PATIENCE):
                while not await asyncio.to_thread(stack.is_healthy):
                    await asyncio.sleep(0.2)
        last_may_arrive.set()


@pytest.mark.slow
def test_nobody_waits_with_a_false_sentence_although_services_are_killed(stack):
    """The first of each group of four wait long enough for what their pages say to be compared."""
    crowd, outcome = lobby_crowd.meet(stack, lobby_crowd.Size(groups=3, per_second=0.15, kill_every=4.0))
    assert set(crowd.kills) == {"web", "redis", "worker"}
    assert (crowd.false, outcome["not seated"]) == ([], 0)
    assert len(crowd.begun) == 12 and crowd.samples > 10


@pytest.mark.slow
def test_twenty_groups_finish_although_services_are_killed(stack):
    stack.call(
        "tests.meeting.launch_contest",
        "killed",
        human_seats=PEOPLE_PER_GROUP,
        config={"players": PEOPLE_PER_GROUP + 1, "runs": RUNS},
    )
    paths = stack.call("tests.meeting.reach_instructions", "killed", GROUPS * PEOPLE_PER_GROUP)

    async def run() -> None:
        all_may_arrive, last_may_arrive = asyncio.Event(), asyncio.Event()
        all_may_arrive.set()
        limits = httpx.Limits(max_connections=30)
        async with httpx.AsyncClient(base_url=stack.url, timeout=10, limits=limits, follow_redirects=True) as client:
            people = [Person(client, path, last_may_arrive if path == paths[-1] else all_may_arrive) for path in paths]
            walks = (person.take_part() for person in people)
            await asyncio.gather(kill_services(stack, people, last_may_arrive), *walks)

    asyncio.run(run())
    number = len(paths)
    outcome = stack.call("tests.meeting.outcome_summary", "killed")
    assert outcome == {
        "states": {"completed": number},
        "matches": {"finished": GROUPS},
        "seats": number,
        "in_two_groups": 0,
        "moves": {str(RUNS): GROUPS * (PEOPLE_PER_GROUP + 1)},
        "paid": {**outcome["paid"], "base": number},
        "paid_twice": 0,
    }
