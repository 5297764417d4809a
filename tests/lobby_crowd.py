"""A crowd that meets in the lobby while services are killed, and whether what their pages say is true.

Every participant is a page as `static/parley/lobby.js` runs it: a socket, or requests without one. Once a second, what
each page says is compared with what the database said within the last `TOLERANCE` seconds.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter, deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
import websockets

from config.supervisor import Stack
from tests.players import POSITION, socket_of

GROUP_SIZE = 4
PRESSING = (0.5, 4.0)
"""Seconds until a person presses the button."""
MISSING_SHARE = 0.02
"""The share of people who miss their first start."""
KILLED = ("web", "redis", "worker")
TOLERANCE = 10.0
"""How many seconds a page may lag behind the database: it asks every 4 seconds, and a dead socket shows after 7."""
PATIENCE = 240.0
"""Seconds after the last arrival within which everyone must be seated."""
SILENCE, TIMEOUT = 7.0, 8.0
REQUESTS = 50
"""How many requests the crowd sends at once; a longer queue in the client would cost it more time than the server."""


@dataclass(frozen=True)
class Size:
    """How large a crowd is.

    Attributes:
        groups: of four.
        per_second: how many people arrive per second.
        kill_every: seconds from the recovery after one kill to the next; 0: nothing is killed.
    """

    groups: int = 200
    per_second: float = 20.0
    kill_every: float = 10.0


@dataclass
class Crowd:
    """What happened to the people, by their token.

    Attributes:
        arrived, begun: when each person came to the lobby and was told that the game starts (monotonic seconds).
        samples: how often what a page said was compared, after its first `TOLERANCE` seconds in the lobby.
        silent: samples of people in the lobby whose page had not loaded yet, such as during a kill.
        false: sentences that were not true, with what was.
    """

    pages: dict[str, Page] = field(default_factory=dict)
    arrived: dict[str, float] = field(default_factory=dict)
    begun: dict[str, float] = field(default_factory=dict)
    samples: int = 0
    silent: int = 0
    false: list[str] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    all_seated: asyncio.Event = field(default_factory=asyncio.Event)


class Page:
    """One person's lobby page, and what it says."""

    def __init__(self, client: httpx.AsyncClient, slots: asyncio.Semaphore, path: str, position: str):
        self.client, self.slots, self.path, self.position = client, slots, path, position
        self.token = path.split("/")[2]
        self.rng = random.Random(path)
        self.misses = self.rng.random() < MISSING_SHARE
        self.state: Mapping[str, Any] = {}
        self.kept_until = self.ends_at = self.told_at = 0.0
        self.lost = self.begun = False
        self.asked_for = self.press_for = 0
        self.pressing: asyncio.Task[None] | None = None
        self.socket: Any = None

    @property
    def sentence(self) -> str:
        """What the page says, as a key that `meeting.lobby_truths` uses too; "" if nothing."""
        if self.begun or not self.state:
            return "begun" if self.begun else ""
        if self.lost or time.monotonic() - self.told_at > SILENCE:
            end = self.kept_until if self.state["stage"] == "waiting" else self.ends_at
            return "lost, kept" if time.monotonic() < end else "lost, may be over"
        if self.state["stage"] == "ready":
            return f"ready as {self.state['seat']}, {'pressed' if self.state['pressed'] else 'not pressed'}"
        return "waiting"

    @property
    def counts(self) -> str:
        """What the page says about who is here; "" if it says nothing about it."""
        return f"{self.state['others']} here, {self.state['missing']} missing" if self.sentence == "waiting" else ""

    async def wait(self) -> None:
        """Continue from the page before the lobby until the game begins or the study ends."""
        while not self.begun:
            has_entered = bool(self.state)
            try:
                await self._request()
            except (httpx.HTTPError, ValueError):
                self.lost = True
            if has_entered or not self.state:
                await asyncio.sleep(self.rng.uniform(0.4, 1.2))
            if self.state and not self.begun:
                with suppress(OSError, TimeoutError, websockets.WebSocketException):
                    await self._listen()
                self.socket = None

    async def _listen(self) -> None:
        url = str(self.client.base_url).rstrip("/")
        async with socket_of(url, self.path, "lobby", open_timeout=TIMEOUT) as self.socket:
            while not self.begun:
                sent_at = time.monotonic()
                message = json.loads(await asyncio.wait_for(self.socket.recv(), SILENCE))
                self.lost = False
                if message["type"] == "ask":
                    await self._send()
                else:
                    self._show(message, sent_at)

    async def _send(self) -> None:
        message = {"type": "ready", "group": self.press_for} if self.press_for else {"type": "sync"}
        await self.socket.send(json.dumps(message))

    async def _request(self) -> None:
        """Enter the lobby, or ask and answer without a socket."""
        async with self.slots:
            if not self.state:
                await self.client.post(self.path, data={"position": self.position})
            sent_at, fields = time.monotonic(), {"group": str(self.press_for)} if self.press_for else None
            answer = await self.client.request("POST" if fields else "GET", f"{self.path}lobby", data=fields)
        message = answer.raise_for_status().json()
        self.lost = False
        self._show(message, sent_at)

    def _show(self, message: Mapping[str, Any], sent_at: float) -> None:
        if message["type"] == "begin":
            self.begun = True
        elif message["type"] == "here":
            self.state = {**self.state, "others": message["others"], "missing": message["missing"]}
        else:
            self.state, self.told_at = message, time.monotonic()
            self.kept_until, self.ends_at = sent_at + message["kept"], sent_at + message["remaining"]
            if message["stage"] != "ready" or message["pressed"]:
                self.press_for = 0
            elif self.asked_for != message["group"]:
                self.asked_for, is_missed, self.misses = message["group"], self.misses, False
                if not is_missed:
                    self.pressing = asyncio.create_task(self._press(self.asked_for))

    async def _press(self, group: int) -> None:
        """Press the button after a while; without a socket, the next request says so."""
        await asyncio.sleep(self.rng.uniform(*PRESSING))
        if self.state.get("group") == group:
            self.press_for = group
            with suppress(AttributeError, websockets.WebSocketException):
                await self._send()


def launch_contest(stack: Stack, slug: str, players: int, *, runs: int, **parts: Any) -> str:
    """Launch a study of groups of people; return its short name."""
    parts |= {"config": {"players": players, "runs": runs}, "agents": {}, "quota": 1_000, "purpose": "demo"}
    return str(stack.call("tests.meeting.launch_contest", slug, human_seats=players, **parts))


def meet(stack: Stack, size: Size) -> tuple[Crowd, dict[str, int]]:
    """Let a crowd meet; return what happened, and how many were "not seated" and "missed" a start."""
    slug = launch_contest(stack, f"bench-lobby-{size.groups}", GROUP_SIZE, runs=1, ready=20)
    paths = stack.call("tests.meeting.reach_instructions", slug, size.groups * GROUP_SIZE)
    crowd = asyncio.run(_meet(stack, size, paths))
    return crowd, stack.call("tests.meeting.lobby_outcome", slug)


async def _meet(stack: Stack, size: Size, paths: list[str]) -> Crowd:
    crowd, slots = Crowd(), asyncio.Semaphore(REQUESTS)
    async with httpx.AsyncClient(base_url=stack.url, timeout=TIMEOUT, follow_redirects=True) as client:
        position = POSITION.search((await client.get(paths[0])).text)
        assert position is not None

        async def participant(path: str, delay: float) -> None:
            await asyncio.sleep(delay)
            page = Page(client, slots, path, position[1])
            crowd.pages[page.token] = page
            crowd.arrived[page.token] = time.monotonic()
            await page.wait()
            crowd.begun[page.token] = time.monotonic()

        others = [asyncio.create_task(_sample(stack, crowd)), asyncio.create_task(_kill(stack, crowd, size.kill_every))]
        walks = [asyncio.create_task(participant(path, i / size.per_second)) for i, path in enumerate(paths)]
        await asyncio.wait(walks, timeout=len(paths) / size.per_second + PATIENCE)
        crowd.all_seated.set()
        for walk in walks:
            walk.cancel()
        await asyncio.gather(*others)
    return crowd


async def _kill(stack: Stack, crowd: Crowd, every: float) -> None:
    """Kill one service after the other while people meet, each after the stack has answered for a while."""
    while every and not crowd.all_seated.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(crowd.all_seated.wait(), every)
            return
        name = KILLED[crowd.kills.total() % len(KILLED)]
        process = stack.services[name].process
        assert process is not None
        process.kill()
        crowd.kills[name] += 1
        while not crowd.all_seated.is_set() and not await asyncio.to_thread(stack.is_healthy):
            await asyncio.sleep(0.2)


async def _sample(stack: Stack, crowd: Crowd) -> None:
    """Compare what every page says with what is, once a second.

    What a page says is false if it was not true at any time within the last `TOLERANCE` seconds. How many are here
    changes faster than it is sampled: a page's counts are false if they differ from counts that did not change.
    """
    recent: deque[tuple[float, dict[str, tuple[list[str], str]]]] = deque()
    known_since: dict[str, float] = {}
    while not crowd.all_seated.is_set():
        await asyncio.sleep(1)
        said = {token: (page.sentence, page.counts) for token, page in crowd.pages.items()}
        asked_at = time.monotonic()
        truths = await asyncio.to_thread(stack.call, "tests.meeting.lobby_truths", list(said), TOLERANCE)
        recent.append((asked_at, truths))
        while recent[0][0] < asked_at - TOLERANCE:
            recent.popleft()
        for token, (sentence, counts) in said.items():
            if token in crowd.begun:
                continue
            is_new = asked_at - known_since.setdefault(token, asked_at) < TOLERANCE
            true = {one for _at, each in recent for one in each.get(token, ([], ""))[0]}
            true_counts = {each[token][1] for _at, each in recent if token in each}
            crowd.samples += not is_new
            crowd.silent += not sentence and not is_new and token in truths
            if sentence and sentence not in true and not is_new:
                crowd.false.append(f"{sentence}; but {sorted(true)}")
            if counts and not is_new and len(true_counts) == 1 and counts not in true_counts:
                crowd.false.append(f"{counts}; but {true_counts}")
