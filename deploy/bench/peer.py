"""oTree beside Parley: as many pages up to the game, and a live page that stores a number and sends one back."""

from __future__ import annotations

import asyncio
import json
import random
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import websockets
from websockets.typing import Origin

from config.supervisor import ROOT
from deploy.bench.kit import Measured, database_on
from deploy.otree_demo.server import Otree
from tests import players

PROGRAM = ROOT / ".venv-otree" / "bin" / "otree"
PROJECT = Path(__file__).parent / "otree_walk"
PARTICIPANTS = 4000
"""Maximum arrivals: oTree creates its participants with the session."""
_SOCKET = re.compile(r'data-socket-url="(/live[^"]+)"')


def is_set_up() -> bool:
    if not PROGRAM.exists():
        print("oTree is not set up: deploy/setup/otree.sh")
    return PROGRAM.exists()


@contextmanager
def serving(database: str) -> Iterator[tuple[players.Server, str]]:
    """Run oTree as in experiments; yield it, and the address of its database."""
    with database_on(database) as (address, pids), tempfile.TemporaryDirectory(prefix="parley-bench-") as folder:
        server = Otree(Path(folder), PROGRAM, project=PROJECT, database_url=address)
        server.prepare(parley="", link_keys="")
        server.start()
        try:
            session = {"session_config_name": "walk", "num_participants": PARTICIPANTS}
            keys = {"otree-rest-key": server.rest_key}
            answer = httpx.post(f"{server.url}/api/sessions", json=session, headers=keys, timeout=300)
            link = answer.raise_for_status().json()["session_wide_url"]
            yield players.Server(server.url, link, {"oTree": server.pid, **pids}, enter, play), address
        finally:
            server.stop()


async def enter(client: httpx.AsyncClient, join: str) -> str:
    """Go through the link, consent, a name and instructions to the page of an offer; return its socket's path."""
    page = await client.get(join, follow_redirects=True)
    for answer in ({"agree": "yes"}, {"name": "Worker"}, {}):
        page = await client.post(page.url, data=answer, follow_redirects=True)
    if (socket := _SOCKET.search(page.text)) is None:
        raise RuntimeError(f"did not reach the game: {page.status_code} {page.url} {page.text[:200]}")
    return socket[1].replace("&amp;", "&")


async def play(url: str, path: str, *, thinking: float, measured: Measured) -> None:
    """Send offers until the interval ends, and time the answers."""
    address = f"{url.replace('http', 'ws', 1)}{path}"
    async with websockets.connect(address, origin=Origin(url), compression=None) as socket:
        while time.monotonic() < measured.until:
            await asyncio.sleep(thinking * random.uniform(0.5, 1.5))
            sent_at = time.monotonic()
            measured.moves += measured.is_on
            await socket.send(json.dumps({"offer": 50}))
            while not json.loads(await asyncio.wait_for(socket.recv(), players.PATIENCE)).get("live_method_payload"):
                pass
            measured.add_since(sent_at)
