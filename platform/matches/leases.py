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

from matches.models import Lease

LEASE_SECONDS = 6
RENEW_SECONDS = 1.5
log = logging.getLogger(__name__)


def take(*, match_id: int, role: str, answering: int) -> Lease | None:
    """Take a turn to think about, until `give_back` or until this process dies; None when somebody else has it.

    Each time that a turn is taken counts as an attempt.
    """
    keeper = _keeper(os.getpid())
    now = timezone.now()
    until = now + timedelta(seconds=LEASE_SECONDS)
    turn = {"match_id": match_id, "role": role, "answering": answering}
    try:
        with transaction.atomic():
            held = Lease.objects.create(**turn, holder=keeper.name, until=until)
    except IntegrityError:
        run_out = Lease.objects.filter(**turn, until__lte=now)
        if not run_out.update(holder=keeper.name, until=until, attempts=F("attempts") + 1):
            return None
        held = Lease.objects.get(**turn)
    keeper.hold(held.pk)
    return held


def give_back(held: Lease) -> None:
    """The turn is free for others at once, if it is still open."""
    keeper = _keeper(os.getpid())
    keeper.release(held.pk)
    Lease.objects.filter(pk=held.pk, holder=keeper.name).update(until=timezone.now())


def give_back_all() -> None:
    """Free every turn of this process, which ends: others think about them from now on."""
    keeper = _keeper(os.getpid())
    held = keeper.release_all()
    Lease.objects.filter(pk__in=held, holder=keeper.name).update(until=timezone.now())


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
            until = timezone.now() + timedelta(seconds=LEASE_SECONDS)
            Lease.objects.filter(pk__in=held, holder=self.name).update(until=until)
        except DatabaseError as error:
            log.warning("leases not renewed: %s", type(error).__name__)
            close_old_connections()


@lru_cache(maxsize=4)
def _keeper(pid: int) -> _Keeper:
    """One keeper per process, also after a fork."""
    return _Keeper()
