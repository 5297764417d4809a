"""Redis within a deadline: nobody's page waits for it, and none fails without it."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import redis
from channels_redis.pubsub import RedisPubSubChannelLayer
from django.conf import settings
from django.core.cache.backends.redis import RedisCache
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

T = TypeVar("T")
log = logging.getLogger(__name__)
PAUSE_SECONDS = 2.0
"""Seconds for which a process does without its cache once Redis has not answered."""
_caches: dict[str, OptionalCache] = {}


class OptionalCache(RedisCache):
    """Django's Redis cache, which is empty while Redis is unavailable: limits then let people through."""

    _paused_until: ClassVar[float] = 0.0

    def add(self, *args: Any, **options: Any) -> bool:
        return self._if_available(super().add, *args, otherwise=False, **options)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        return self._if_available(super().get, key, default, version, otherwise=default)

    def set(self, *args: Any, **options: Any) -> None:
        self._if_available(super().set, *args, otherwise=None, **options)

    def incr(self, *args: Any, **options: Any) -> int:
        """Return the new value; raise ValueError if the key does not exist, as it seems while Redis is unavailable."""
        count = self._if_available(super().incr, *args, otherwise=None, **options)
        if count is None:
            raise ValueError("The cache is unavailable.")
        return count

    @classmethod
    def resume(cls) -> None:
        """Ask Redis again, however recently it did not answer."""
        cls._paused_until = 0.0

    def _if_available(self, operation: Callable[..., T], *args: Any, otherwise: T, **options: Any) -> T:
        if time.monotonic() < OptionalCache._paused_until:
            return otherwise
        try:
            return operation(*args, **options)
        except redis.RedisError as error:
            OptionalCache._paused_until = time.monotonic() + PAUSE_SECONDS
            log.warning("Redis is unavailable: %s", type(error).__name__)
            return otherwise


def shared_cache(location: str, params: dict[str, Any]) -> OptionalCache:
    """Return this process's only cache, whose connections all threads share.

    Django would make a cache, and connect it, for every request whose thread works in a context of its own.
    """
    return _caches.get(location) or _caches.setdefault(location, OptionalCache(location, params))


class ChannelLayer(RedisPubSubChannelLayer):
    """The library's layer; sending to a group and joining one raise TimeoutError after REDIS_SECONDS."""

    def __init__(self, hosts: list[dict[str, Any]], **options: Any) -> None:
        # redis-py's own 5 s timeout is as long as the layer's blocking read. A connection that Redis has dropped is
        # replaced at the second attempt.
        connecting = {"socket_timeout": None, "retry": Retry(NoBackoff(), 1)}
        super().__init__(hosts=[host | connecting for host in hosts], **options)

    async def new_channel(self, prefix: str = "specific.") -> str:
        """Return a consumer's own channel, without subscribing to it: messages are only sent to groups."""
        layer = self._get_layer()
        channel = f"{layer.prefix}{prefix}{uuid.uuid4().hex}"
        layer.channels[channel] = asyncio.Queue()
        return channel

    async def group_add(self, group: str, channel: str) -> None:
        await asyncio.wait_for(self._get_layer().group_add(group, channel), settings.REDIS_SECONDS)

    async def group_discard(self, group: str, channel: str) -> None:
        await asyncio.wait_for(self._get_layer().group_discard(group, channel), settings.REDIS_SECONDS)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await asyncio.wait_for(self._get_layer().group_send(group, message), settings.REDIS_SECONDS)
