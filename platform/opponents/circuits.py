"""Circuit breakers shared by all processes through the database.

A separate thread records circuits that open or close in this process, because that happens inside an event loop.
Changes made by other processes are applied when `opponents.endpoints` reads the database.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

from llm_agents import breaker
from llm_agents.breaker import State
from opponents.models import Circuit

log = logging.getLogger(__name__)

PAUSE = timedelta(seconds=15)
"""How long `llm_agents.breaker` pauses an endpoint."""


@dataclass
class _ChangeTimes:
    """When each circuit last opened or closed in this process."""

    opened: dict[str, datetime] = field(default_factory=dict)
    closed: dict[str, datetime] = field(default_factory=dict)

    def note(self, name: str, *, is_open: bool, at: datetime) -> None:
        current, previous = (self.opened, self.closed) if is_open else (self.closed, self.opened)
        current[name] = at
        previous.pop(name, None)


_changes = _ChangeTimes()
_writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="circuits")


def share_changes() -> None:
    """Record every circuit that opens or closes in this process from now on."""
    breaker.on_change(_changed)


def apply_changes() -> None:
    """Apply the changes that other processes recorded after this process's own last change."""
    now = timezone.now()
    for circuit in Circuit.objects.all():
        name = circuit.endpoint
        if circuit.open_until is not None and circuit.open_until > now:
            closed_at = _changes.closed.get(name)
            if breaker.state(name) != "open" and (closed_at is None or closed_at < circuit.changed_at):
                breaker.trip(name, (circuit.open_until - now).total_seconds())
                _changes.note(name, is_open=True, at=circuit.changed_at)
        elif circuit.open_until is None and name in _changes.opened and _changes.opened[name] < circuit.changed_at:
            breaker.reset(name)
            _changes.note(name, is_open=False, at=circuit.changed_at)


def write(name: str, state: State, changed_at: datetime) -> None:
    """Record a change for the other processes, unless a later one has been recorded."""
    values = {"open_until": changed_at + PAUSE if state == "open" else None, "changed_at": changed_at}
    circuit, created = Circuit.objects.get_or_create(endpoint=name, defaults=values)
    if not created:
        Circuit.objects.filter(pk=circuit.pk, changed_at__lt=changed_at).update(**values)


def open_circuits() -> dict[str, datetime]:
    """Return when the pause of each paused endpoint ends, across all processes."""
    return dict(Circuit.objects.filter(open_until__gt=timezone.now()).values_list("endpoint", "open_until"))


def wait_until_written() -> None:
    """Wait until all changes made so far have been written."""
    _writer.submit(lambda: None).result()


def forget() -> None:
    """Forget all changes in this process, as if it had just started."""
    _changes.opened.clear()
    _changes.closed.clear()


def _changed(name: str, state: State) -> None:
    changed_at = timezone.now()
    _changes.note(name, is_open=state == "open", at=changed_at)
    _writer.submit(_write_and_disconnect, name, state, changed_at).add_done_callback(_log_failure)


def _write_and_disconnect(name: str, state: State, changed_at: datetime) -> None:
    try:
        write(name, state, changed_at)
    finally:
        connection.close()


def _log_failure(future: Future[None]) -> None:
    failure = future.exception()
    if failure is not None:
        log.warning("a circuit could not be shared: %s", type(failure).__name__)
