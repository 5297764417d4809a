"""Circuit breakers shared by all processes through the database.

A circuit that opens or closes in this process is written by a separate thread, since it happens inside an event
loop. Changes from other processes are applied when `opponents.endpoints` reads.
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
class _LocalChange:
    """When circuits changed in this process, by its own calls or by changes from others."""

    opened: dict[str, datetime] = field(default_factory=dict)
    closed: dict[str, datetime] = field(default_factory=dict)

    def note(self, name: str, *, is_open: bool, at: datetime) -> None:
        now, before = (self.opened, self.closed) if is_open else (self.closed, self.opened)
        now[name] = at
        before.pop(name, None)


_here = _LocalChange()
_writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="circuits")


def share_changes() -> None:
    """Record whatever opens or closes in this process from now on."""
    breaker.on_change(_changed)


def take_over() -> None:
    """Apply the changes that other processes recorded since this process's own last change."""
    now = timezone.now()
    for circuit in Circuit.objects.all():
        name = circuit.endpoint
        if circuit.open_until is not None and circuit.open_until > now:
            heard = _here.closed.get(name)
            if breaker.state(name) != "open" and (heard is None or heard < circuit.changed_at):
                breaker.trip(name, (circuit.open_until - now).total_seconds())
                _here.note(name, is_open=True, at=circuit.changed_at)
        elif circuit.open_until is None and name in _here.opened and _here.opened[name] < circuit.changed_at:
            breaker.reset(name)
            _here.note(name, is_open=False, at=circuit.changed_at)


def write(name: str, state: State, at: datetime) -> None:
    """Record a change for the other processes, unless a later one is already recorded."""
    told = {"open_until": at + PAUSE if state == "open" else None, "changed_at": at}
    circuit, made = Circuit.objects.get_or_create(endpoint=name, defaults=told)
    if not made:
        Circuit.objects.filter(pk=circuit.pk, changed_at__lt=at).update(**told)


def open_circuits() -> dict[str, datetime]:
    """Return when the pause of each paused endpoint ends, over all processes."""
    return dict(Circuit.objects.filter(open_until__gt=timezone.now()).values_list("endpoint", "open_until"))


def wait_until_written() -> None:
    """Wait until all changes so far are written."""
    _writer.submit(lambda: None).result()


def forget() -> None:
    """Forget all changes in this process, as if it had just started."""
    _here.opened.clear()
    _here.closed.clear()


def _changed(name: str, state: State) -> None:
    at = timezone.now()
    _here.note(name, is_open=state == "open", at=at)
    _writer.submit(_write_and_hang_up, name, state, at).add_done_callback(_complain)


def _write_and_hang_up(name: str, state: State, at: datetime) -> None:
    try:
        write(name, state, at)
    finally:
        connection.close()


def _complain(written: Future[None]) -> None:
    failure = written.exception()
    if failure is not None:
        log.warning("a circuit could not be shared: %s", type(failure).__name__)
