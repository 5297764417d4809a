"""People who go from the link to the first page of the game, again and again without a pause.

With oTree set up (deploy/setup/otree.sh), the same number of people go through as many pages of forms in oTree in the
same run. What counts is the ratio.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx

from config.supervisor import ROOT
from deploy.bench.kit import STUDY, Measured, Table, memory, stack_on
from deploy.otree_demo.server import Otree
from tests import players

PEOPLE = 50
OTREE = ROOT / ".venv-otree" / "bin" / "otree"
PROJECT = Path(__file__).parent / "otree_walk"
PARTICIPANTS = 4000
"""Maximum arrivals: oTree creates its participants with the session."""
Walk = Callable[[httpx.AsyncClient, str], Awaitable[object]]


def report(options: argparse.Namespace) -> None:
    """Print a row for each database and number of web processes, and one for oTree."""
    table = Table(f"{PEOPLE} people entering|web processes|submits/s|p50 ms|p95 ms|web memory MB|errors")

    def row(name: str, processes: int, url: str, walk: Walk, join: str, pid: int) -> None:
        measured = asyncio.run(_measure(url, walk, join, options.seconds))
        cells = [measured.rate, *measured.milliseconds(0.5, 0.95), memory(pid)]
        table.row(name, processes, *cells, errors=measured.errors)

    for database in options.database:
        for processes in sorted({1, os.cpu_count() or 1}):
            with stack_on(database, processes) as (stack, pids):
                row(database, processes, stack.url, players.enter, f"/join/{STUDY}/", pids["web"])
    if not OTREE.exists():
        print("oTree is not set up: deploy/setup/otree.sh")
        return
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        peer = Otree(Path(folder), OTREE, project=PROJECT)
        peer.prepare(parley="", link_keys="")
        peer.start()
        try:
            row("oTree", 1, peer.url, _enter_otree, _otree_session(peer), peer.pid)
        finally:
            peer.stop()


def _otree_session(peer: Otree) -> str:
    """Return the link through which anyone enters a new session."""
    session = {"session_config_name": "walk", "num_participants": PARTICIPANTS}
    keys = {"otree-rest-key": peer.rest_key}
    answer = httpx.post(f"{peer.url}/api/sessions", json=session, headers=keys, timeout=300)
    return str(answer.raise_for_status().json()["session_wide_url"])


async def _measure(url: str, walk: Walk, join: str, seconds: float) -> Measured:
    """Measure the seconds of every submit up to the next page."""
    measured = Measured.next(seconds)

    class Browser(httpx.AsyncClient):
        async def request(self, *positional: Any, **options: Any) -> httpx.Response:
            started_at = time.monotonic()
            page = await super().request(*positional, **options)
            measured.add(time.monotonic() - started_at)
            return page

    async def person() -> None:
        async with Browser(base_url=url, timeout=60, verify=False) as client:
            await walk(client, join)

    await measured.repeat(PEOPLE, person)
    return measured


async def _enter_otree(client: httpx.AsyncClient, join: str) -> None:
    """Go through the same number of pages and forms: the link, consent, a name, instructions, and an offer."""
    page = await client.get(join, follow_redirects=True)
    for number, answer in enumerate([{"agree": "yes"}, {"name": "Worker"}, {}], start=1):
        if page.status_code != 200 or f"page {number}" not in page.text:
            raise RuntimeError(f"not page {number}: {page.status_code} {page.url} {page.text[:200]}")
        page = await client.post(page.url, data=answer, follow_redirects=True)
    if "Your offer" not in page.text:
        raise RuntimeError(f"did not reach the game: {page.url}")
