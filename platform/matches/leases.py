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

from django.db import DatabaseError, IntegrityError, close_old_connections, transaction
from django.db.models import F
from django.utils import timezone

from matches.models import Lease

LEASE_SECONDS = 6
RENEW_SECONDS = 1.5
log = logging.getLogger(__name__)


@contextmanager
def lease(*, match_id: int, role: str, answering: int) -> Iterator[Lease | None]:
    """Hold a turn while thinking about it; yields None when somebody else does."""
    keeper = _keeper(os.getpid())
    held = _take(match_id=match_id, role=role, answering=answering, holder=keeper.name)
    if held is None:
        yield None
        return
    keeper.hold(held.pk)
    try:
        yield held
    finally:
        keeper.release(held.pk)
        Lease.objects.filter(pk=held.pk, holder=keeper.name).update(until=timezone.now())


def _take(*, match_id: int, role: str, answering: int, holder: str) -> Lease | None:
    """A new lease, or one that had run out; each beginning counts as an attempt."""
    now = timezone.now()
    until = now + timedelta(seconds=LEASE_SECONDS)
    turn = {"match_id": match_id, "role": role, "answering": answering}
    try:
        with transaction.atomic():
            return Lease.objects.create(**turn, holder=holder, until=until)
    except IntegrityError:
        run_out = Lease.objects.filter(**turn, until__lte=now)
        taken = run_out.update(holder=holder, until=until, attempts=F("attempts") + 1)
    return Lease.objects.get(**turn) if taken else None


def held_turns(match_id: int) -> set[tuple[str, int]]:
    """(role, answering) of the match's turns that somebody is thinking about."""
    held = Lease.objects.filter(match_id=match_id, until__gt=timezone.now())
    return set(held.values_list("role", "answering"))


class _Keeper:
    """Renews the leases of this process, in one statement for all of them."""

    def __init__(self) -> None:
        self.name = uuid.uuid4().hex
        self._held: set[int] = set()
        self._lock = threading.Lock()
        threading.Thread(target=self._run, name="lease-keeper", daemon=True).start()

    def hold(self, lease_id: int) -> None:
        with self._lock:
            self._held.add(lease_id)

    def release(self, lease_id: int) -> None:
        with self._lock:
            self._held.discard(lease_id)

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
            Lease.objects.filter(pk__in=held, holder=self.name).update(until=until)
        except DatabaseError as error:
            log.warning("leases not renewed: %s", type(error).__name__)
            close_old_connections()


@lru_cache(maxsize=4)
def _keeper(pid: int) -> _Keeper:
    """One keeper per process, also after a fork."""
    return _Keeper()
