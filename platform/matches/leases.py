"""Leases: which worker is thinking about which turn.

A worker process renews all its leases together from one thread. When it dies they run out within
`LEASE_SECONDS`, and the sweep gives the turns to another worker.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import lru_cache

from django.db import DatabaseError, close_old_connections
from django.db.models import F, Q
from django.utils import timezone

from matches.models import Turn

LEASE_SECONDS = 6
RENEW_SECONDS = 1.5
log = logging.getLogger(__name__)


def free(now) -> Q:
    """Turns that nobody holds at `now`."""
    return Q(leased_until=None) | Q(leased_until__lt=now)


@contextmanager
def lease(turn: Turn) -> Iterator[bool]:
    """Hold the turn while thinking; yields False when somebody else holds it or it was answered."""
    now = timezone.now()
    holder = _Keeper.of_this_process().name
    taken = Turn.objects.filter(free(now), pk=turn.pk, closed_at=None).update(
        leased_until=now + timedelta(seconds=LEASE_SECONDS), leased_by=holder, attempts=F("attempts") + 1
    )
    if not taken:
        yield False
        return
    keeper = _Keeper.of_this_process()
    keeper.hold(turn.pk)
    try:
        yield True
    finally:
        keeper.release(turn.pk)
        Turn.objects.filter(pk=turn.pk, leased_by=holder).update(leased_until=None, leased_by="")


class _Keeper:
    """Renews the leases of this process, in one statement for all of them."""

    def __init__(self) -> None:
        self.name = uuid.uuid4().hex
        self._held: set[int] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._run, name="lease-keeper", daemon=True).start()

    @staticmethod
    def of_this_process() -> _Keeper:
        return _keeper(os.getpid())

    def hold(self, turn_id: int) -> None:
        with self._lock:
            self._held.add(turn_id)

    def release(self, turn_id: int) -> None:
        with self._lock:
            self._held.discard(turn_id)

    def _run(self) -> None:
        while True:
            time.sleep(RENEW_SECONDS)
            with self._lock:
                held = list(self._held)
            if held:
                self._renew(held)

    def _renew(self, held: list[int]) -> None:
        try:
            until = timezone.now() + timedelta(seconds=LEASE_SECONDS)
            Turn.objects.filter(pk__in=held, leased_by=self.name, closed_at=None).update(leased_until=until)
        except DatabaseError as error:
            log.warning("leases not renewed: %s", type(error).__name__)
            close_old_connections()


@lru_cache(maxsize=4)
def _keeper(pid: int) -> _Keeper:
    return _Keeper()
