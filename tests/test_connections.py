"""130 people play at once on two web servers and two workers, with PostgreSQL in its default configuration."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from config.postgres import PrivatePostgres
from deploy.bench.kit import Measured, another_worker, count_connections
from tests import players
from tests.conftest import LiveStack

pytestmark = [pytest.mark.slow, pytest.mark.services]

PEOPLE, STUDY = 130, "crowd"
SECONDS, PATIENCE = 20, 3600
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
                measured = asyncio.run(play_all(stack.url, postgres.url))
            logged = [line for name in ("web", "worker", "collector", "beat") for line in stack.log(name).splitlines()]
        refused = postgres.log.read_text().count("too many clients")
    finally:
        postgres.stop()
    print(f"{PEOPLE} people: at most {measured.connections} connections, {len(measured.times)} replies of the agent")
    assert not measured.errors, measured.errors[:5]
    assert refused == 0
    assert len(measured.times) >= PEOPLE
    assert not [line for line in logged if " WARNING " in line or " ERROR " in line]
    assert 0 < measured.connections <= 97  # three are reserved for the superuser


async def play_all(url: str, database: str) -> Measured:
    """Let everyone enter and play at once."""
    measured = Measured.next(PATIENCE)
    watching = asyncio.create_task(count_connections(database, measured))

    async def play_one() -> None:
        async with httpx.AsyncClient(base_url=url, timeout=120, verify=False) as client:
            path = await players.enter(client, f"/join/{STUDY}/")
        own = Measured.next(SECONDS)
        await players.play(url, path, thinking=1.0, measured=own)
        measured.times += own.times

    await asyncio.gather(*(measured.noting_errors(play_one()) for _person in range(PEOPLE)))
    measured.until = 0
    await watching
    return measured
