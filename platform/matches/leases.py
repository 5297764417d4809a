"""Leases on turns: which worker is answering which turn.

A worker process renews all of its leases from one thread. If it crashes, they expire within `LEASE_SECONDS`,
and the sweep gives the turns to another worker.
"""

from __future__ import annotations

import logging
import os
import threading
import time
import uuid
from datetime import timedelta
from functools import lru_cache

from django.db import DatabaseError, IntegrityError, close_old_connections, transaction
from django.db.models import F
from django.utils import timezone

import leasing
from matches.models import Lease

LEASE_SECONDS = 6
RENEW_SECONDS = 1.5
LEASE_LENGTH = timedelta(seconds=LEASE_SECONDS)
log = logging.getLogger(__name__)


def take(*, match_id: int, role: str, answering: int) -> Lease | None:
    """Lease a turn until `give_back` or until this process dies; return None if another worker has it.

    Each lease of a turn counts as an attempt.
    """
    keeper = _keeper(os.getpid())
    turn = {"match_id": match_id, "role": role, "answering": answering}
    try:
        with transaction.atomic():
            lease = Lease.objects.create(**turn, holder=keeper.name, until=timezone.now() + LEASE_LENGTH)
    except IntegrityError:
        if not leasing.take(Lease.objects.filter(**turn), keeper.name, LEASE_LENGTH, attempts=F("attempts") + 1):
            return None
        lease = Lease.objects.get(**turn)
    keeper.hold(lease.pk)
    return lease


def renumber(lease: Lease, answering: int) -> None:
    """Move the lease to the turn's new number. Call this in the transaction that changes the number."""
    Lease.objects.filter(pk=lease.pk).update(answering=answering)


def give_back(lease: Lease) -> None:
    """Release the turn at once, if it is still open."""
    keeper = _keeper(os.getpid())
    keeper.release(lease.pk)
    leasing.release(Lease.objects.filter(pk=lease.pk), keeper.name)


def give_back_all() -> None:
    """Release all turns of this process before it ends, for other workers."""
    keeper = _keeper(os.getpid())
    lease_ids = keeper.release_all()
    leasing.release(Lease.objects.filter(pk__in=lease_ids), keeper.name)


def leased_turns(match_id: int) -> set[tuple[str, int]]:
    """Return (role, answering) of the match's leased turns."""
    leased = Lease.objects.filter(match_id=match_id).exclude(leasing.free())
    return set(leased.values_list("role", "answering"))


class _Keeper:
    """Renews all leases of this process in one statement."""

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

    def release_all(self) -> list[int]:
        with self._lock:
            lease_ids, self._held = list(self._held), set()
            return lease_ids

    def _run(self) -> None:
        while True:
            time.sleep(RENEW_SECONDS)
            with self._lock:
                lease_ids = list(self._held)
            if lease_ids:
                self._renew(lease_ids)

    def _renew(self, lease_ids: list[int]) -> None:
        try:
            leasing.renew(Lease.objects.filter(pk__in=lease_ids), self.name, LEASE_LENGTH)
        except DatabaseError as error:
            log.warning("the database is unavailable: leases were not renewed: %s", type(error).__name__)
            close_old_connections()


@lru_cache(maxsize=4)
def _keeper(pid: int) -> _Keeper:
    """Return the process's keeper; a forked process gets its own."""
    return _Keeper()
