"""What the benchmark does inside its stacks, by `Stack.call`."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import redis
from django.conf import settings
from django.db import connection
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
