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
from datetime import timedelta
from functools import lru_cache

from django.db import DatabaseError, IntegrityError, close_old_connections, transaction
from django.db.models import F
from django.utils import timezone

import leasing
from matches.models import Lease

LEASE_SECONDS = 6
RENEW_SECONDS = 1.5
LENGTH = timedelta(seconds=LEASE_SECONDS)
log = logging.getLogger(__name__)


def take(*, match_id: int, role: str, answering: int) -> Lease | None:
    """Take a turn to think about, until `give_back` or until this process dies; None when somebody else has it.

    Each time that a turn is taken counts as an attempt.
    """
    keeper = _keeper(os.getpid())
    turn = {"match_id": match_id, "role": role, "answering": answering}
    try:
        with transaction.atomic():
            held = Lease.objects.create(**turn, holder=keeper.name, until=timezone.now() + LENGTH)
    except IntegrityError:
        if not leasing.take(Lease.objects.filter(**turn), keeper.name, LENGTH, attempts=F("attempts") + 1):
            return None
        held = Lease.objects.get(**turn)
    keeper.hold(held.pk)
    return held


def follow(held: Lease, answering: int) -> None:
    """The turn goes on under another number: the lease with it. Call it in the transaction that numbers it anew."""
    Lease.objects.filter(pk=held.pk).update(answering=answering)


def give_back(held: Lease) -> None:
    """The turn is free for others at once, if it is still open."""
    keeper = _keeper(os.getpid())
    keeper.release(held.pk)
    leasing.let_go(Lease.objects.filter(pk=held.pk), keeper.name)


def give_back_all() -> None:
    """Free every turn of this process, which ends: others think about them from now on."""
    keeper = _keeper(os.getpid())
    held = keeper.release_all()
    leasing.let_go(Lease.objects.filter(pk__in=held), keeper.name)


def held_turns(match_id: int) -> set[tuple[str, int]]:
    """(role, answering) of the match's turns that somebody is thinking about."""
    held = Lease.objects.filter(match_id=match_id).exclude(leasing.free())
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

    def release_all(self) -> list[int]:
        with self._lock:
            held, self._held = list(self._held), set()
            return held

    def _run(self) -> None:
        while True:
            time.sleep(RENEW_SECONDS)
            with self._lock:
                held = list(self._held)
            if held:
                self._renew(held)

    def _renew(self, held: list[int]) -> None:
        try:
            leasing.renew(Lease.objects.filter(pk__in=held), self.name, LENGTH)
        except DatabaseError as error:
            log.warning("leases not renewed: %s", type(error).__name__)
            close_old_connections()


@lru_cache(maxsize=4)
def _keeper(pid: int) -> _Keeper:
    """One keeper per process, also after a fork."""
    return _Keeper()
