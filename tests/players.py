"""Simulated participants: they enter by the link, go through the pages, and play over the socket."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, NamedTuple
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import httpx
import websockets
from websockets.typing import Origin

from deploy.bench.kit import Measured

RAMP_SECONDS_EACH = 0.05
"""Seconds between opening two sockets, so that opening them does not affect the measurement."""
PATIENCE = 30.0
SILENCE = 3.0
"""Seconds without a message after which a page sends its move over HTTP too."""
CODE_WORD = re.compile(r"remember the word <strong>([a-z]+)</strong>")
POSITION = re.compile(r'name="position" value="(\d+)"')
OFFER = {"alice_gain": "9990", "bob_gain": "10"}

Enter = Callable[[httpx.AsyncClient, str], Awaitable[str]]
"""Goes from a link to the game, and returns the path of its page."""


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
    """Return the socket of a person's page, which sends no pings, as a browser's; `kind` is "play" or "lobby"."""
    address = f"{url.replace('http', 'ws', 1)}/ws/{kind}/{path.strip('/').split('/')[1]}/"
    return websockets.connect(address, origin=Origin(url), compression=None, ping_interval=None, **options)


class Page:
    """A page in play, which sends what `static/parley/play.js` sends, also while its person thinks.

    It answers the server's question whether it is here, and sends a move over HTTP too if its socket stays silent.

    Args:
        match: the page's address for requests.
        patience: seconds that the server may take until its next message.
    """

    def __init__(self, socket: Any, match: str, patience: float | None = PATIENCE):
        self.socket, self.match, self.patience = socket, match, patience
        self.last = 0
        self._unread: deque[dict[str, Any]] = deque()
        self._pending: dict[str, str] = {}

    async def move(self, answering: int, **fields: str) -> None:
        self._pending = {"answering": str(answering), **fields, "!age": "0"}
        await self.socket.send(json.dumps({"type": "move", "fields": self._pending}))

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
            frame = self._unread.popleft() if self._unread else await self._awaited()
            if frame["type"] in ("refused", "stale", "gone"):
                raise RuntimeError(json.dumps(frame))
            if frame["type"] == "screen" and (frame["over"] or frame["answering"] not in (None, answered)):
                self._pending = {}
                yield frame
                answered = frame["answering"]
                if frame["over"]:
                    return

    async def _awaited(self) -> dict[str, Any]:
        """Return the next message, or the frame that answers the move over HTTP."""
        if self._pending:
            with suppress(TimeoutError):
                return await asyncio.wait_for(self._received(), SILENCE)
            return await asyncio.to_thread(self._posted)
        return await asyncio.wait_for(self._received(), self.patience)

    async def _received(self) -> dict[str, Any]:
        """Return the next message that is not the server's question whether the page is here."""
        while True:
            message: dict[str, Any] = json.loads(await self.socket.recv())
            self.last = max(self.last, message.get("last", 0))
            if message["type"] != "here":
                return message
            await self.socket.send(json.dumps({"type": "here", "last": self.last}))

    def _posted(self) -> dict[str, Any]:
        request = Request(self.match, urlencode(self._pending).encode(), {"Accept": "application/json"})
        with urlopen(request, timeout=self.patience) as answer:
            frame: dict[str, Any] = json.load(answer)
        self.last = max(self.last, frame["last"])
        return frame


@asynccontextmanager
async def opened(url: str, path: str, patience: float | None = PATIENCE) -> AsyncIterator[Page]:
    """Open a person's page in play; `patience` as of `Page`."""
    async with socket_of(url, path) as socket:
        yield Page(socket, f"{url}{path}match", patience)


async def play(url: str, path: str, *, thinking: float, measured: Measured, patience: float | None = PATIENCE) -> None:
    """Play one match until the interval ends: make greedy offers, reject every offer, and time the opponent's answers.

    Args:
        patience: as of `Page`.
    """
    sent_at: float | None = None
    async with opened(url, path, patience) as page:
        async for frame in page.screens():
            if frame["over"] or time.monotonic() >= measured.until:
                return
            if sent_at is not None:
                measured.add_since(sent_at)
            if thinking:
                await page.think(thinking * random.uniform(0.5, 1.5))
            is_offering = 'name="alice_gain"' in frame["html"]
            sent_at = time.monotonic() if is_offering else None
            measured.moves += measured.is_on
            await page.move(frame["answering"], **(OFFER if is_offering else {"decision": "reject"}))


async def enter_all(url: str, join: str, number: int, enter_by: Enter = enter) -> list[str]:
    """Let this many enter, four at a time; return their pages' paths."""
    slots = asyncio.Semaphore(4)

    async def enter_once() -> str:
        async with slots, httpx.AsyncClient(base_url=url, timeout=60) as client:
            return await enter_by(client, join)

    return await asyncio.gather(*(enter_once() for _ in range(number)))


class Server(NamedTuple):
    """Where people play, Parley or another.

    Attributes:
        join: the link to the game.
        pids: the processes whose CPU time is measured, by name.
        enter, play: how people get from the link to the game, and play it.
    """

    url: str
    join: str
    pids: Mapping[str, int] = {}
    enter: Enter = enter
    play: Callable[..., Awaitable[None]] = play


async def run(
    server: Server,
    *,
    workers: int,
    thinking: float,
    seconds: float,
    beside: Callable[[Measured], Awaitable[None]] | None = None,
) -> Measured:
    """Let `workers` play at once; measure for `seconds` once all have entered and begun to play.

    Args:
        beside: what else is measured in the interval it is given.
    """
    paths = await enter_all(server.url, server.join, workers, server.enter)
    measured = Measured.next(seconds, after=workers * RAMP_SECONDS_EACH + 2 * thinking)

    async def participant(path: str, delay: float) -> None:
        await asyncio.sleep(delay)
        await measured.noting_errors(server.play(server.url, path, thinking=thinking, measured=measured))

    players = (participant(path, i * RAMP_SECONDS_EACH) for i, path in enumerate(paths))
    await asyncio.gather(measured.watch(server.pids), *([beside(measured)] if beside else []), *players)
    return measured
