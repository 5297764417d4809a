"""Circuit breakers shared by all processes through the database.

A separate thread records circuits that open or close in this process, because that happens inside an event loop.
Changes made by other processes are applied when `opponents.endpoints` reads the database.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

from llm_agents.breaker import BREAKERS, PAUSE_SECONDS, State
from opponents.models import Circuit

log = logging.getLogger(__name__)

PAUSE = timedelta(seconds=PAUSE_SECONDS)
_writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="circuits")


def share_changes() -> None:
    """Record every circuit that opens or closes in this process from now on."""
    BREAKERS.on_change(_changed)


def apply_changes() -> None:
    """Apply the changes that other processes recorded after the last one known to this process."""
    now = timezone.now()
    for circuit in Circuit.objects.all():
        if circuit.open_until is None or circuit.open_until > now:
            seconds = 0.0 if circuit.open_until is None else (circuit.open_until - now).total_seconds()
            BREAKERS.learn(circuit.endpoint, seconds, circuit.changed_at.timestamp())


def write(name: str, state: State, changed_at: datetime) -> None:
    """Record a change for the other processes, unless a later one has been recorded."""
    values = {"open_until": changed_at + PAUSE if state == "open" else None, "changed_at": changed_at}
    circuit, created = Circuit.objects.get_or_create(endpoint=name, defaults=values)
    if not created:
        Circuit.objects.filter(pk=circuit.pk, changed_at__lt=changed_at).update(**values)


def open_circuits() -> dict[str, datetime]:
    """Return when the pause of each paused endpoint ends, across all processes."""
    paused = Circuit.objects.filter(open_until__gt=timezone.now()).values_list("endpoint", "open_until")
    return {endpoint: open_until for endpoint, open_until in paused if open_until is not None}


def wait_until_written() -> None:
    """Wait until all changes made so far have been written."""
    _writer.submit(lambda: None).result()


def _changed(name: str, state: State) -> None:
    _writer.submit(_write_and_disconnect, name, state, timezone.now()).add_done_callback(_log_failure)


def _write_and_disconnect(name: str, state: State, changed_at: datetime) -> None:
    try:
        write(name, state, changed_at)
    finally:
        connection.close()


def _log_failure(future: Future[None]) -> None:
    failure = future.exception()
    if failure is not None:
        log.warning("a circuit could not be shared: %s", type(failure).__name__)
