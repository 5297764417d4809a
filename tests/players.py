"""Simulated participants: they enter by the link, go through the pages, and play over the socket."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import httpx
import websockets
from websockets.typing import Origin

from deploy.bench.kit import Measured

RAMP_SECONDS_EACH = 0.05
"""Seconds between opening two sockets, so that opening them does not affect the measurement."""
PATIENCE = 30.0
CODE_WORD = re.compile(r"remember the word <strong>([a-z]+)</strong>")
POSITION = re.compile(r'name="position" value="(\d+)"')
OFFER = {"alice_gain": "9990", "bob_gain": "10"}


async def enter(client: httpx.AsyncClient, join: str) -> str:
    """Go from the open link to the game; return the page's path."""
    page = await client.post(join, data={"role": "alice"}, follow_redirects=True)
    answers = [{"agree": "yes"}, {"name": f"Worker {random.choice('ABCDEFGH')}"}, {}]
    for answer in answers:
        if match := CODE_WORD.search(page.text):
            answer = {**answer, "code_word": match[1]}
        position = POSITION.search(page.text)
        if position is None:
            raise RuntimeError(f"no step to answer: {page.status_code} {page.text[:200]}")
        page = await client.post(page.url, data={"position": position[1], **answer}, follow_redirects=True)
    if 'id="screen"' not in page.text:
        raise RuntimeError(f"did not reach the game: {page.url.path}")
    return page.url.path


def socket_of(url: str, path: str, kind: str = "play", **options: Any) -> AbstractAsyncContextManager[Any]:
    """Return the socket of a person's page; `kind` is "play" or "lobby"."""
    address = f"{url.replace('http', 'ws', 1)}/ws/{kind}/{path.strip('/').split('/')[1]}/"
    return websockets.connect(address, origin=Origin(url), compression=None, **options)


class Page:
    """A page in play on its socket, which answers the server as `static/parley/play.js` does, also while people think.

    Args:
        patience: seconds that the server may take until its next message.
    """

    def __init__(self, socket: Any, patience: float | None = PATIENCE):
        self.socket, self.patience = socket, patience
        self.last = 0
        self._unread: deque[dict[str, Any]] = deque()

    async def move(self, answering: int, **fields: str) -> None:
        fields = {"answering": str(answering), **fields, "!age": "0"}
        await self.socket.send(json.dumps({"type": "move", "fields": fields}))

    async def think(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    self._unread.append(await self._received())

    async def screens(self) -> AsyncIterator[dict[str, Any]]:
        """Yield each screen that asks something new, and the last one, whose `over` is true.

        Raises:
            RuntimeError: a move was refused.
            TimeoutError: the server took too long.
        """
        answered = None
        while True:
            frame = self._unread.popleft() if self._unread else await self._received(self.patience)
            if frame["type"] in ("refused", "stale", "gone"):
                raise RuntimeError(json.dumps(frame))
            if frame["type"] == "screen" and (frame["over"] or frame["answering"] not in (None, answered)):
                yield frame
                answered = frame["answering"]
                if frame["over"]:
                    return

    async def _received(self, patience: float | None = None) -> dict[str, Any]:
        """Return the next message that is not the server's question whether the page is here."""
        while True:
            message: dict[str, Any] = json.loads(await asyncio.wait_for(self.socket.recv(), patience))
            self.last = max(self.last, message.get("last", 0))
            if message["type"] != "here":
                return message
            await self.socket.send(json.dumps({"type": "here", "last": self.last}))


async def play(url: str, path: str, *, thinking: float, measured: Measured, patience: float | None = PATIENCE) -> None:
    """Play one match until the interval ends: make greedy offers, reject every offer, and time the opponent's answers.

    Args:
        patience: as of `Page`.
    """
    sent_at: float | None = None
    async with socket_of(url, path) as socket:
        page = Page(socket, patience)
        async for frame in page.screens():
            if frame["over"] or time.monotonic() >= measured.until:
                return
            if sent_at is not None and sent_at >= measured.since:
                measured.add(time.monotonic() - sent_at)
            if thinking:
                await page.think(thinking * random.uniform(0.5, 1.5))
            is_offering = 'name="alice_gain"' in frame["html"]
            sent_at = time.monotonic() if is_offering else None
            measured.moves += measured.is_on
            await page.move(frame["answering"], **(OFFER if is_offering else {"decision": "reject"}))


async def enter_all(url: str, join: str, number: int) -> list[str]:
    """Let this many enter, four at a time; return their pages' paths."""
    slots = asyncio.Semaphore(4)

    async def enter_once() -> str:
        async with slots, httpx.AsyncClient(base_url=url, timeout=60) as client:
            return await enter(client, join)

    return await asyncio.gather(*(enter_once() for _ in range(number)))


async def run(
    url: str,
    join: str,
    *,
    workers: int,
    thinking: float,
    seconds: float,
    pids: Mapping[str, int] | None = None,
    beside: Callable[[Measured], Awaitable[None]] | None = None,
) -> Measured:
    """Let `workers` play at once; measure for `seconds` once all have entered and begun to play.

    Args:
        pids: processes whose CPU time is measured, by name.
        beside: what else is measured in the interval it is given.
    """
    paths = await enter_all(url, join, workers)
    measured = Measured.next(seconds, after=workers * RAMP_SECONDS_EACH + 2 * thinking)

    async def participant(path: str, delay: float) -> None:
        await asyncio.sleep(delay)
        await measured.noting_errors(play(url, path, thinking=thinking, measured=measured))

    players = (participant(path, i * RAMP_SECONDS_EACH) for i, path in enumerate(paths))
    await asyncio.gather(measured.watch(pids or {}), *([beside(measured)] if beside else []), *players)
    return measured
