"""Run a pilot, a few participants at a time, under a lease so that another worker takes over if this one dies."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta
from typing import Any

from django.db import connections
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

import leasing
from piloting.enrolling import enrol, version_of
from piloting.errors import Stuck
from piloting.models import Pilot, Walker
from piloting.person import Interrupted, Person

MAX_CONCURRENT = 4
"""Maximum number of participants running at the same time; raised if a group is larger."""
LEASE_SECONDS, RENEW_SECONDS = 15, 1.0
MAX_ATTEMPTS = 3
"""Maximum number of times that a participant is started before they count as stuck."""
Status = Walker.Status
log = logging.getLogger(__name__)


def unheld_pilots() -> list[int]:
    """Return the running pilots that no worker holds."""
    running = Pilot.objects.filter(leasing.free(), status=Pilot.Status.RUNNING)
    return list(running.values_list("pk", flat=True))


def drive(pilot_id: int) -> None:
    """Run the pilot until every participant has ended; return at once if another worker holds it."""
    holder = uuid.uuid4().hex
    if not _hold(pilot_id, holder, taking=True):
        return
    lease_held = threading.Event()
    lease_held.set()
    Walker.objects.filter(pilot=pilot_id, status=Status.WALKING).update(status=Status.WAITING)
    waiting = Walker.objects.filter(pilot=pilot_id, status=Status.WAITING).order_by("number")
    try:
        cells = version_of(Pilot.objects.select_related("study").get(pk=pilot_id)).planned_cells()
        at_once = max(MAX_CONCURRENT, *(cell.group_size + 2 for cell in cells))  # a group, and two in case some fail
        with ThreadPoolExecutor(at_once, thread_name_prefix="pilot") as pool:
            pending = {
                pool.submit(_run_participant, walker, lease_held) for walker in waiting.values_list("pk", flat=True)
            }
            while pending:
                _done, pending = wait(pending, timeout=RENEW_SECONDS)
                if lease_held.is_set() and not _hold(pilot_id, holder):
                    lease_held.clear()
    finally:
        _finish(pilot_id, holder)


def _hold(pilot_id: int, holder: str, *, taking: bool = False) -> bool:
    """Take or renew the lease; return False if another worker holds the pilot or it was stopped."""
    pilots = Pilot.objects.filter(pk=pilot_id, status=Pilot.Status.RUNNING)
    length = timedelta(seconds=LEASE_SECONDS)
    return (leasing.take if taking else leasing.renew)(pilots, holder, length) == 1


def _finish(pilot_id: int, holder: str) -> None:
    """Release the lease, and close the pilot if no participant is left."""
    held_pilot = Pilot.objects.filter(pk=pilot_id, holder=holder)
    leasing.release(held_pilot, holder)
    unfinished = Walker.objects.filter(pilot=pilot_id, status__in=[Status.WAITING, Status.WALKING])
    if not unfinished.exists():
        held_pilot.filter(status=Pilot.Status.RUNNING).update(status=Pilot.Status.DONE, ended_at=timezone.now())


def _person(walker: Walker, may_continue: Callable[[], bool]) -> Person:
    def record(page: dict[str, Any]) -> None:
        walker.pages.append(page)
        walker.save(update_fields=["pages"])

    return Person(
        enrol(walker),
        may_continue,
        player=walker.pilot.player,
        seed=f"{walker.pilot.seed}/{walker.number}",
        plan=walker.plan,
        agents=version_of(walker.pilot).agents(),
        record=record,
    )


def _run_participant(walker_id: int, lease_held: threading.Event) -> None:
    """Run one participant; record any error so that the researcher can see it."""
    walkers = Walker.objects.filter(pk=walker_id)
    try:
        if not lease_held.is_set():
            return
        walkers.update(status=Status.WALKING, attempts=F("attempts") + 1)
        walker = walkers.select_related("pilot__study", "enrolment").get()
        if walker.attempts > MAX_ATTEMPTS:
            raise Stuck(_("Started too often: the worker died each time."))
        _person(walker, lease_held.is_set).walk()
        walkers.update(status=Status.ARRIVED, problem="")
    except Interrupted:
        walkers.update(status=Status.WAITING)
    except Stuck as stuck:
        walkers.update(status=Status.STUCK, problem=str(stuck)[:500])
    except Exception as error:
        log.exception("simulated participant %s failed", walker_id)
        problem = _("Unexpected error: {kind}.").format(kind=type(error).__name__)
        walkers.update(status=Status.STUCK, problem=problem)
    finally:
        connections.close_all()
