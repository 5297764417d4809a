"""130 people play at once on two web servers and two workers, with PostgreSQL in its default configuration."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import psycopg
import pytest

from config.postgres import PrivatePostgres
from deploy.bench.kit import Measured, another_worker
from tests import players
from tests.conftest import LiveStack

pytestmark = [pytest.mark.slow, pytest.mark.services]

PEOPLE, STUDY = 130, "crowd"
SECONDS = 20
WEB_PROCESSES = 4  # two servers, each with a process for each of two cores


def test_postgresql_never_runs_out_of_connections(tmp_path: Path):
    postgres = PrivatePostgres()
    try:
        with LiveStack(
            tmp_path,
            database_url=postgres.start(),
            web_processes=WEB_PROCESSES,
            environment={"SECRET_KEY": "tests", "JOINS_PER_HOUR": "100000"},
        ) as stack:
            stack.call("tests.actions.launch_endless", STUDY)
            with another_worker(stack):
                peak, errors, replies = asyncio.run(play_all(stack.url, postgres))
            logged = [line for name in ("web", "worker", "collector", "beat") for line in stack.log(name).splitlines()]
        refused = postgres.log.read_text().count("too many clients")
    finally:
        postgres.stop()
    print(f"{PEOPLE} people: at most {peak} connections, {replies} replies of the agent")
    assert not errors, errors[:5]
    assert refused == 0
    assert replies >= PEOPLE
    assert not [line for line in logged if " WARNING " in line or " ERROR " in line]
    assert peak <= 97  # three are reserved for the superuser


async def play_all(url: str, postgres: PrivatePostgres) -> tuple[int, list[str], int]:
    """Let everyone enter and play at once; return the peak of connections, the errors and the number of replies."""
    peak, errors, replies = 0, [], 0
    finished = asyncio.Event()

    async def watch_connections() -> None:
        nonlocal peak
        count_query = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        async with await psycopg.AsyncConnection.connect(
            host=str(postgres.folder), user="postgres", dbname="parley", autocommit=True
        ) as connection:
            while not finished.is_set():
                (connections,) = await (await connection.execute(count_query)).fetchone()
                peak = max(peak, connections - 1)
                await asyncio.sleep(0.1)

    async def play_one() -> None:
        nonlocal replies
        try:
            async with httpx.AsyncClient(base_url=url, timeout=120, verify=False) as client:
                path = await players.enter(client, f"/join/{STUDY}/")
            measured = Measured.next(SECONDS)
            await players.play(url, path, thinking=1.0, measured=measured)
            errors.extend(measured.errors)
            replies += len(measured.times)
        except Exception as error:  # noqa: BLE001  (the test reports every error)
            errors.append(f"{type(error).__name__}: {error}"[:200])

    watcher = asyncio.create_task(watch_connections())
    await asyncio.gather(*(play_one() for _person in range(PEOPLE)))
    finished.set()
    await watcher
    return peak, errors, replies
