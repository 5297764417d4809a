"""The endpoints from the admin for `llm_agents`, served from memory in any thread or event loop.

The database is read only when `refresh_if_old()` is called. Code that is about to run agents calls it
synchronously: the worker at the start of a turn, a collection's driver at each tick (in a thread), a command
before it plays, and admin pages on every request. That costs one query every five seconds per process, and
none inside an event loop. Code that knows its agents names them, so that a new endpoint is found at once.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import Error as DatabaseFailure
from django.db import transaction
from django.utils.translation import gettext as _

from llm_agents import endpoints as agent_endpoints
from llm_agents.agent import SCRIPT
from llm_agents.endpoints import Price, Protocol, Structured
from llm_agents.errors import NotConfigured
from llm_agents.pricing import PriceList
from opponents import circuits, keys
from opponents.models import Endpoint
from opponents.validators import read_prices

log = logging.getLogger(__name__)

MAX_AGE_SECONDS = 5.0
"""Seconds after which the endpoints are read again."""


@dataclass(frozen=True)
class StoredEndpoint(agent_endpoints.Endpoint):
    """An endpoint from the admin.

    Attributes:
        refusal: why it cannot be used; empty if it can.
        retired: whether new studies and collections may not choose it.
    """

    refusal: str = ""
    retired: bool = False

    def secret(self) -> str | None:
        """Return the key for calls; None if none is needed.

        Raises:
            NotConfigured: it cannot be used, or its key is missing.
        """
        if self.refusal:
            raise NotConfigured(self.refusal)
        return super().secret()


def stored_endpoint(endpoint: Endpoint, *, even_disabled: bool = False) -> StoredEndpoint:
    """Return an endpoint in the form that `llm_agents` uses.

    Args:
        even_disabled: allow calls even if the endpoint is disabled.
    """
    refusal = ""
    if not endpoint.enabled and not even_disabled:
        refusal = _("The endpoint “{name}” is disabled.").format(name=endpoint.name)
    elif endpoint.key_state == endpoint.KeyState.UNREADABLE:
        refusal = _("The key of “{name}” cannot be decrypted. Enter it again.").format(name=endpoint.name)
    elif endpoint.key_state == endpoint.KeyState.REMOVED:
        refusal = _("The key of “{name}” was deleted. Enter a key.").format(name=endpoint.name)
    return StoredEndpoint(
        name=endpoint.name,
        protocol=cast(Protocol, endpoint.protocol),
        base_url=endpoint.base_url or None,
        key=keys.unseal(endpoint.sealed_key) if endpoint.sealed_key else None,
        key_variable=endpoint.key_variable or None,
        structured=cast(Structured, endpoint.structured),
        tools=endpoint.tools,
        concurrency=endpoint.concurrency,
        per_minute=endpoint.per_minute,
        prices=_prices(endpoint),
        title=str(endpoint),
        refusal=refusal,
        retired=endpoint.retired,
    )


def _prices(endpoint: Endpoint) -> Mapping[str, Price]:
    try:
        return read_prices(endpoint.prices)
    except ValidationError:
        log.error("endpoint %s: its prices cannot be read", endpoint.name)
        return {}


class Memory:
    """The endpoints as last read. The mapping is replaced, never modified, so reading it needs no lock."""

    def __init__(self) -> None:
        self._endpoints: Mapping[str, StoredEndpoint] = {}
        self._read_at: float | None = None
        self._reading = threading.Lock()

    def get(self, name: str) -> StoredEndpoint | None:
        return self._endpoints.get(name)

    def all(self) -> list[StoredEndpoint]:
        return list(self._endpoints.values())

    def is_old(self) -> bool:
        return self._read_at is None or time.monotonic() - self._read_at >= MAX_AGE_SECONDS

    def expire(self) -> None:
        """Make the next `refresh_if_old` read the database, however soon it is called."""
        self._read_at = None

    def read(self) -> None:
        """Read all endpoints and circuits; keep the old values if the database cannot be read."""
        if not self._reading.acquire(blocking=self._read_at is None):
            return
        try:
            self._read_at = time.monotonic()
            self._endpoints = {endpoint.name: stored_endpoint(endpoint) for endpoint in Endpoint.objects.all()}
            circuits.apply_changes()
        except DatabaseFailure as failure:
            log.warning("the database is unavailable: endpoints were not read: %s", type(failure).__name__)
        finally:
            self._reading.release()


MEMORY = Memory()
"""The endpoints that this process has in memory."""


def refresh_if_old(*specs: str) -> bool:
    """Read endpoints and circuits again if the last read is at least five seconds old; return whether they were read.

    Do nothing inside an event loop, which the database must not block.

    Args:
        specs: agents that will be used; if an endpoint of theirs is unknown, read again however old the last read is.
    """
    if _in_event_loop():
        return False
    names = {spec.partition(":")[0] for spec in specs} - {SCRIPT}
    if not all(agent_endpoints.endpoint_exists(name) for name in names):
        MEMORY.expire()
    if not MEMORY.is_old():
        return False
    MEMORY.read()
    return True


def expire_memory(**_signal: Any) -> None:
    """Mark memory as outdated when an endpoint is saved or deleted in this process."""
    transaction.on_commit(MEMORY.expire)


def refresh_for_admin_page(
    environ: Mapping[str, Any] | None = None, scope: Mapping[str, Any] | None = None, **_signal: Any
) -> None:
    """Refresh memory before an admin page is rendered, since it may list agents."""
    path = environ.get("PATH_INFO", "") if environ is not None else (scope or {}).get("path", "")
    if path.startswith(settings.ADMIN_PATH):
        refresh_if_old()


def use_stored_endpoints() -> None:
    """Make `llm_agents` look up endpoints in this process's memory first."""
    agent_endpoints.use_endpoints(MEMORY.get)


def current_prices() -> PriceList:
    """Return the current prices of these endpoints as a list that a collection can store."""
    return PriceList(
        {f"{endpoint.name}:{model}": price for endpoint in MEMORY.all() for model, price in endpoint.prices.items()}
    )


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
