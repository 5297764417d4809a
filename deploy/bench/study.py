"""What the benchmark does inside its stacks, by `Stack.call`."""

from __future__ import annotations

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
from opponents.models import Call


def collection_status(slug: str) -> dict[str, Any]:
    """Return the progress of a collection, the seconds since its start, and the number of stored calls."""
    collection = Collection.objects.get(slug=slug)
    now = timezone.now()
    seconds = ((collection.ended_at or now) - (collection.started_at or now)).total_seconds()
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


def signed_in() -> str:
    """Create a researcher; return their session's cookie as NAME=VALUE."""
    client = Client()
    client.force_login(User.objects.create_superuser("watcher"), backend=settings.AUTHENTICATION_BACKENDS[-1])
    return client.cookies.output(attrs=[], header="").strip()
