"""Tracks running workers and clocks: each sends a heartbeat to Redis every few seconds."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from functools import lru_cache
from typing import Any

import redis
from django.conf import settings

HEARTBEAT_INTERVAL = 5.0
DEAD_AFTER = 20.0
"""Seconds without a heartbeat after which a process counts as dead."""
HEARTBEATS_KEY = "parley:alive"
log = logging.getLogger(__name__)


@lru_cache(maxsize=1)
def _redis() -> redis.Redis:
    return redis.Redis.from_url(settings.REDIS_URL, **settings.REDIS_OPTIONS)


def send_heartbeat(kind: str) -> None:
    """Send a heartbeat for this process, a "worker", "collector" or "beat"."""
    try:
        _redis().zadd(HEARTBEATS_KEY, {f"{kind}@{socket.gethostname()}:{os.getpid()}": time.time()})
    except redis.RedisError as error:
        log.warning("Redis is unavailable: %s", type(error).__name__)


def start_heartbeats(kind: str) -> None:
    """Send heartbeats from a thread as long as the process lives."""

    def beat() -> None:
        while True:
            send_heartbeat(kind)
            time.sleep(HEARTBEAT_INTERVAL)

    threading.Thread(target=beat, name="alive", daemon=True).start()


def running_processes() -> dict[str, int]:
    """Return how many processes of each kind are running.

    Raises:
        redis.RedisError: Redis is unavailable.
    """
    now = time.time()
    _redis().zremrangebyscore(HEARTBEATS_KEY, "-inf", now - DEAD_AFTER)
    counts = {"worker": 0, "collector": 0, "beat": 0}
    names: Any = _redis().zrange(HEARTBEATS_KEY, 0, -1)
    for name in names:
        counts[name.decode().partition("@")[0]] += 1
    return counts
