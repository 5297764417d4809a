"""The heartbeat of a web process: sent from its event loop as long as that, the database and Redis answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import redis
from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections
from django.urls import get_resolver

from uptime import services

BEAT_SECONDS = 1.0
log = logging.getLogger(__name__)
_thread = ThreadPoolExecutor(1, thread_name_prefix="heartbeat")
"""Where heartbeats wait for the database, with a connection of its own."""


async def lifespan(scope: Any, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]) -> None:
    """Send heartbeats from the server's start to its end (ASGI's lifespan protocol)."""
    await receive()
    _pages = get_resolver().url_patterns  # loaded now, so that the first heartbeat does not precede the first page
    await send({"type": "lifespan.startup.complete"})
    beating = asyncio.create_task(_keep_beating())
    await receive()
    beating.cancel()
    await send({"type": "lifespan.shutdown.complete"})


async def _keep_beating() -> None:
    def beat() -> None:
        close_old_connections()
        beat_if_available()

    while True:  # at the same pace however long the database takes, so that a busy one makes no gaps
        await asyncio.gather(asyncio.get_running_loop().run_in_executor(_thread, beat), asyncio.sleep(BEAT_SECONDS))


def beat_if_available() -> None:
    """Send one heartbeat, unless the database or Redis is unavailable; never raises."""
    try:
        _redis().ping()  # bounded: the options hold Redis's timeouts
        services.beat()
    except (redis.RedisError, DatabaseError, InterfaceError) as error:
        log.warning("no heartbeat: %s", type(error).__name__)


@lru_cache(maxsize=1)
def _redis() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_OPTIONS)
