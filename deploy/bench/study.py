"""What the benchmark does inside its stacks, by `Stack.call`."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any

import redis
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from collecting.models import Collection
from collecting.progress import progress
from matches import agents, announce, services
from matches.models import Match
from opponents.models import Call
from plans.asking import AgentSettings
from tests.actions import add_endpoint


def collection_status(slug: str) -> dict[str, Any]:
    """Return the progress of a collection, the seconds since its start, and the number of stored calls."""
    collection = Collection.objects.get(slug=slug)
    assert collection.started_at is not None
    seconds = ((collection.ended_at or timezone.now()) - collection.started_at).total_seconds()
    calls = Call.objects.filter(budget_of=collection.budget_of).count()
    return {**progress(collection).as_dict(), "seconds": seconds, "calls": calls}


def work_done() -> dict[str, float]:
    """Return what the database and Redis have done so far, by what it is called."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
        (transactions,) = cursor.fetchone()
    with closing(redis.Redis.from_url(settings.REDIS_URL)) as server:
        commands = server.info("commandstats")
        calls = {name: commands.get(f"cmdstat_{name}", {"calls": 0})["calls"] for name in ("lpush", "publish")}
        stats = server.info("stats")
    return {
        "transactions": transactions,
        "tasks queued": calls["lpush"],
        "messages to pages": calls["publish"],
        "Redis commands": stats["total_commands_processed"],
        "bytes to and from Redis": stats["total_net_input_bytes"] + stats["total_net_output_bytes"],
    }


def connections() -> int:
    """Return the database's connections without this one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) - 1 FROM pg_stat_activity WHERE backend_type = 'client backend'")
        return int(cursor.fetchone()[0])


def long_match(url: str, game: str, periods: int) -> list[float]:
    """Play one match by calling tools at `url`; return the CPU seconds of this process for each period."""
    announce.queue_turn = lambda match, turn: None  # no worker other than this process
    add_endpoint("long", url, concurrency=1)
    asking = AgentSettings(strategy="tools", retries=0, limit_seconds=1800)
    players = {"agent": services.Player(agent="long:any", settings=asking)}
    match = services.open_match(game=game, config={"periods": periods}, players=players, seed=1)
    spent = []
    for _period in range(periods):
        match.refresh_from_db()
        started_at = time.process_time()
        agents.answer_turn(match_uid=match.uid, role="agent", answering=match.open_turns()["agent"].answering)
        spent.append(time.process_time() - started_at)
    match.refresh_from_db()
    assert match.status == Match.Status.FINISHED
    return spent


def signed_in() -> str:
    """Create a researcher; return their session's cookie as NAME=VALUE."""
    client = Client()
    client.force_login(User.objects.create_superuser("watcher"), backend=settings.AUTHENTICATION_BACKENDS[-1])
    return client.cookies.output(attrs=[], header="").strip()
