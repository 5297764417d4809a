"""A crowd that waits for a session over sockets, as `static/parley/session.js` does, and starts together."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx
from django.utils import timezone

from config.supervisor import Stack
from gathering import services
from gathering.models import Session
from studies.models import Study
from studies.tests import kit
from tests.players import socket_of
from tests.visitors import Visitor, arrived_participant

PATIENCE = 120.0
ARRIVALS_PER_SECOND = 20


@dataclass
class Started:
    """What happened to the crowd, in seconds after the first person was told of the start.

    Attributes:
        told, begun: when each person with a place was told, and had the first page of the study.
        listed: how many people were still on the waiting list then.
        late: how long after the planned start the first person was told.
    """

    told: list[float] = field(default_factory=list)
    begun: list[float] = field(default_factory=list)
    listed: int = 0
    late: float = 0.0


def plan_session(slug: str, places: int) -> str:
    """Launch a study with a session that starts at some time; return the path of its link."""
    kit.launched(slug, agents="script:fair", via="open", quota=1_000, participations=None, purpose="demo")
    return f"/join/{slug}/?session={new_session(slug, places)}"


def new_session(slug: str, places: int = 2) -> str:
    """Let the study have a session that starts by hand; return its code."""
    return Session.objects.create(study=Study.objects.get(slug=slug), places=places, grace=0).code


def start(code: str) -> None:
    """Start a session now."""
    services.start(Session.objects.get(code=code))


def schedule(slug: str, seconds: float) -> float:
    """Let the study's session start in some seconds; return when (Unix time)."""
    starts_at = timezone.now() + timedelta(seconds=seconds)
    Session.objects.filter(study__slug=slug).update(starts_at=starts_at)
    return starts_at.timestamp()


def fill_room(code: str, people: int) -> None:
    """Let people come to a session, take numbered seats, start, and play to the end; their pay is in the ledger."""
    session = Session.objects.get(code=code)
    room = [services.attend(session, f"key {n}", label=session.labels[n]) for n in range(people)]
    services.start(session)
    for number, attendance in enumerate(room):
        enrolment = arrived_participant(session.study, f"worker {number}")
        services.begun(attendance, enrolment)
        visitor = Visitor(enrolment)
        visitor.client.defaults["HTTP_HOST"] = "localhost"
        visitor.walk_to("match")
        alice = 5_000 - 1_000 * (number % 4)
        visitor.move(alice_gain=str(alice), bob_gain=str(10_000 - alice))
        if "bob" in visitor.match().open_turns():  # else the script has answered in the move's transaction
            visitor.let_agent_answer()
        visitor.send()


def sessions_path(slug: str) -> str:
    """Return the path of the study's sessions."""
    return f"/admin/sessions/{Study.objects.get(slug=slug).pk}/"


def crowd(stack: Stack, slug: str, people: int, places: int) -> Started:
    """Let people come to a session, wait, and start; return when."""
    path = stack.call("tests.session_crowd.plan_session", slug, places)
    return asyncio.run(_crowd(stack, slug, path, people))


async def _crowd(stack: Stack, slug: str, path: str, people: int) -> Started:
    started, transport = Started(), httpx.AsyncHTTPTransport(limits=httpx.Limits(max_connections=50))
    told: list[float] = []
    begun: list[float] = []
    everyone = asyncio.Barrier(people + 1)

    async def person(number: int) -> None:
        await asyncio.sleep(number / ARRIVALS_PER_SECOND)
        client = httpx.AsyncClient(base_url=stack.url, transport=transport, timeout=PATIENCE, follow_redirects=True)
        page = await client.get(path)
        form, token = _found('name="form" value', page.text), _found("data-token", page.text)
        async with socket_of(stack.url, f"/s/{token}", "session", open_timeout=PATIENCE) as socket:
            waits = asyncio.create_task(everyone.wait())
            stage = "waiting"
            while stage in ("waiting", "list"):
                stage = await _heard(socket)
            await waits
            if stage == "over":
                started.listed += 1
                return
            told.append(time.time())
        page = await client.post(path, data={"form": form})
        if "/p/" not in page.url.path:
            raise RuntimeError(f"not begun: {page.status_code} {page.url.path}")
        begun.append(time.time())

    async def begin() -> float:
        await everyone.wait()
        return float(await asyncio.to_thread(stack.call, "tests.session_crowd.schedule", slug, 5))

    starts_at, *_people = await asyncio.gather(begin(), *map(person, range(people)))
    first = min(told)
    started.told, started.begun = ([moment - first for moment in sorted(moments)] for moments in (told, begun))
    started.late = first - starts_at
    return started


async def _heard(socket: Any) -> str:
    """Return where the person is; without news, the page asks."""
    try:
        return str(json.loads(await asyncio.wait_for(socket.recv(), 10))["stage"])
    except TimeoutError:
        await socket.send("{}")
        return "waiting"


def _found(attribute: str, text: str) -> str:
    found = re.search(f'{attribute}="([^"]+)"', text)
    assert found is not None
    return found[1]
