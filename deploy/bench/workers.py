"""Simulated participants: they enter by the link, go through the pages, and play over the socket."""

from __future__ import annotations

import asyncio
import json
import random
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
import websockets

RAMP_SECONDS_EACH = 0.05
"""Seconds between opening two sockets, so that opening them does not affect the measurement."""
CODE_WORD = re.compile(r"remember the word <strong>([a-z]+)</strong>")
POSITION = re.compile(r'name="position" value="(\d+)"')


@dataclass
class Measurements:
    """Measurements of all participants."""

    replies: list[float] = field(default_factory=list)
    """Seconds from sending a move that the opponent must answer until the answer arrives on the socket."""
    moves: int = 0
    errors: list[str] = field(default_factory=list)

    def percentile(self, share: float) -> float:
        """Return a percentile of the replies in milliseconds."""
        ordered = sorted(self.replies)
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


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


async def play(address: str, path: str, *, thinking: float, since: float, until: float, measured: Measurements) -> None:
    """Play one match until the time is up: make greedy offers and reject every offer. Count from `since` on."""
    token = path.strip("/").split("/")[1]
    socket_address = f"ws://{address}/ws/play/{token}/"
    async with websockets.connect(socket_address, origin=f"http://{address}", compression=None) as socket:
        sent_at: float | None = None
        answered = 0
        while time.monotonic() < until:
            frame = json.loads(await asyncio.wait_for(socket.recv(), 30))
            if frame["type"] in ("refused", "stale", "gone"):
                measured.errors.append(json.dumps(frame)[:200])
                return
            if frame.get("over") and frame["type"] == "screen":
                return
            if frame["type"] != "screen" or frame["answering"] in (None, answered):
                continue
            answered = frame["answering"]
            if sent_at is not None and sent_at >= since:
                measured.replies.append(time.monotonic() - sent_at)
                sent_at = None
            if thinking:
                await asyncio.sleep(thinking * random.uniform(0.5, 1.5))
            proposing = 'name="alice_gain"' in frame["html"]
            move = {"alice_gain": "9990", "bob_gain": "10"} if proposing else {"decision": "reject"}
            sent_at = time.monotonic() if proposing else None
            measured.moves += since <= time.monotonic() < until
            await socket.send(json.dumps({"type": "move", "fields": {"answering": str(frame["answering"]), **move}}))


async def hold_unanswered_offers(address: str, join: str, *, people: int, until: asyncio.Event) -> None:
    """Have `people` enter, make an offer to a model that never answers, and keep their pages open."""

    async def hold_offer() -> None:
        async with httpx.AsyncClient(base_url=f"http://{address}", timeout=60) as client:
            token = (await enter(client, join)).strip("/").split("/")[1]
        async with websockets.connect(f"ws://{address}/ws/play/{token}/", origin=f"http://{address}") as socket:
            frame = json.loads(await asyncio.wait_for(socket.recv(), 30))
            offer = {"answering": str(frame["answering"]), "alice_gain": "9990", "bob_gain": "10"}
            await socket.send(json.dumps({"type": "move", "fields": offer}))
            await until.wait()

    await asyncio.gather(*(hold_offer() for _ in range(people)))


async def run(
    address: str, join: str, *, workers: int, thinking: float, seconds: float, begin: Callable[[], None]
) -> Measurements:
    """Run `workers` participants at once; measure for `seconds` once all have entered and begun to play.

    `begin` is called when the measurement begins.
    """
    measured = Measurements()
    entering = asyncio.Semaphore(4)

    async def enter_once() -> str:
        async with entering, httpx.AsyncClient(base_url=f"http://{address}", timeout=60) as client:
            return await enter(client, join)

    paths = await asyncio.gather(*(enter_once() for _ in range(workers)))
    ramp = workers * RAMP_SECONDS_EACH + 2 * thinking
    since = time.monotonic() + ramp
    until = since + seconds

    async def participant(path: str, delay: float) -> None:
        try:
            await asyncio.sleep(delay)
            await play(address, path, thinking=thinking, since=since, until=until, measured=measured)
        except Exception as error:  # noqa: BLE001  (a benchmark counts every failure)
            measured.errors.append(f"{type(error).__name__}: {error}")

    async def announce() -> None:
        await asyncio.sleep(ramp)
        begin()

    await asyncio.gather(announce(), *(participant(path, i * RAMP_SECONDS_EACH) for i, path in enumerate(paths)))
    return measured
