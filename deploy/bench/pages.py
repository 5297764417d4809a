"""People who go from the link to the first page of the game, again and again without a pause.

With oTree set up (deploy/setup/otree.sh), the same number of people go through as many pages of forms in oTree in the
same run. What counts is the ratio.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import psutil

from config.supervisor import ROOT, Stack
from deploy.bench import workers
from deploy.otree_demo.server import Otree

STUDY = "benchmark"
PEOPLE = 50
OTREE = ROOT / ".venv-otree" / "bin" / "otree"
PROJECT = Path(__file__).parent / "otree_walk"
PARTICIPANTS = 4000
"""Maximum arrivals: oTree creates its participants with the session."""
Walk = Callable[[httpx.AsyncClient], Awaitable[None]]


def report(
    stack_on: Callable[..., AbstractContextManager[tuple[Stack, Any]]], databases: Sequence[str], *, seconds: float
) -> None:
    """Print a row for each database and number of web processes, and one for oTree."""
    print("\n| pages, 50 people entering | web processes | submits/s | p50 ms | p95 ms | errors | web memory MB |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for database in databases:
        for processes in sorted({1, os.cpu_count() or 1}):
            with stack_on(database, web_processes=processes) as (stack, _database):
                _row(database, processes, stack.url, _enter_parley, seconds, lambda: _megabytes(stack.pids["web"]))
    if not OTREE.exists():
        print("| oTree | (not set up: deploy/setup/otree.sh) | | | | | |")
        return
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        peer = Otree(Path(folder), OTREE, project=PROJECT)
        peer.prepare(parley="", link_keys="")
        peer.start()
        try:
            join = _otree_session(peer)
            _row("oTree", 1, peer.url, lambda client: _enter_otree(client, join), seconds, lambda: _megabytes(peer.pid))
        finally:
            peer.stop()


def _otree_session(peer: Otree) -> str:
    """Return the link through which anyone enters a new session."""
    session = {"session_config_name": "walk", "num_participants": PARTICIPANTS}
    headers = {"otree-rest-key": peer.rest_key}
    response = httpx.post(f"{peer.url}/api/sessions", json=session, headers=headers, timeout=300)
    response.raise_for_status()
    return str(response.json()["session_wide_url"])


def _row(name: str, processes: int, url: str, walk: Walk, seconds: float, megabytes: Callable[[], float]) -> None:
    durations, errors, rate = asyncio.run(_measure(url, walk, seconds))
    ordered = sorted(durations) or [float("nan")]
    p50, p95 = (1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.95))
    print(
        f"| {name} | {processes} | {rate:.0f} | {p50:.0f} | {p95:.0f} | {len(errors)} | {megabytes():.0f} |", flush=True
    )
    for error in sorted(set(errors))[:3]:
        print(f"  error: {error}", flush=True)


async def _measure(url: str, walk: Walk, seconds: float) -> tuple[list[float], list[str], float]:
    """Return the seconds of every submit up to the next page, the errors, and the submits per second."""
    durations: list[float] = []
    errors: list[str] = []
    started_at = time.monotonic()
    ends_at = started_at + seconds

    async def person() -> None:
        while time.monotonic() < ends_at:
            try:
                async with _TimedClient(
                    base_url=url, timeout=60, verify=False, durations=durations, until=ends_at
                ) as client:
                    await walk(client)
            except Exception as error:  # noqa: BLE001  (a benchmark counts every failure)
                errors.append(f"{type(error).__name__}: {error}"[:200])

    await asyncio.gather(*(person() for _number in range(PEOPLE)))
    return durations, errors, len(durations) / seconds


class _TimedClient(httpx.AsyncClient):
    """A browser whose submits are timed up to the next page."""

    def __init__(self, *, durations: list[float], until: float, **options: Any):
        super().__init__(**options)
        self._durations, self._until = durations, until

    async def request(self, *positional: Any, **options: Any) -> httpx.Response:
        started_at = time.monotonic()
        page = await super().request(*positional, **options)
        if time.monotonic() <= self._until:
            self._durations.append(time.monotonic() - started_at)
        return page


def _megabytes(pid: int) -> float:
    """Return the memory of the web server's processes, counting shared pages once."""
    root = psutil.Process(pid)
    return sum(process.memory_full_info().pss for process in [root, *root.children(recursive=True)]) / 1e6


async def _enter_parley(client: httpx.AsyncClient) -> None:
    await workers.enter(client, f"/join/{STUDY}/")


async def _enter_otree(client: httpx.AsyncClient, join: str) -> None:
    """Go through the same number of pages and forms: the link, consent, a name, instructions, and an offer."""
    page = await client.get(join, follow_redirects=True)
    for number, answer in enumerate([{"agree": "yes"}, {"name": "Worker"}, {}], start=1):
        if page.status_code != 200 or f"page {number}" not in page.text:
            raise RuntimeError(f"not page {number}: {page.status_code} {page.url} {page.text[:200]}")
        page = await client.post(page.url, data=answer, follow_redirects=True)
    if "Your offer" not in page.text:
        raise RuntimeError(f"did not reach the game: {page.url}")
