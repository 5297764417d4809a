"""Run a pilot, a few participants at a time, under a lease, so that another worker takes over if this one dies."""

from __future__ import annotations

import logging
import threading
import uuid
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import timedelta

from django.db import connections
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _

import leasing
from opponents.agents import people_in
from piloting.errors import Stuck
from piloting.models import Pilot, Walker
from piloting.person import Interrupted, Person
from studies.formats import seats_in

AT_ONCE = 4
"""Maximum number of participants under way at the same time, unless a group is larger."""
LEASE_SECONDS, LOOK_SECONDS = 15, 1.0
MAX_ATTEMPTS = 3
"""Maximum number of times a participant is started before they count as stuck (a worker's death counts as one)."""
Status = Walker.Status
log = logging.getLogger(__name__)


def undriven() -> list[int]:
    """Return the running pilots that no worker holds."""
    running = Pilot.objects.filter(leasing.free(), status=Pilot.Status.RUNNING)
    return list(running.values_list("pk", flat=True))


def drive(pilot_id: int) -> None:
    """Run the pilot until every participant has ended; return at once if another worker holds it."""
    holder = uuid.uuid4().hex
    if not _hold(pilot_id, holder, taking=True):
        return
    held = threading.Event()
    held.set()
    Walker.objects.filter(pilot=pilot_id, status=Status.WALKING).update(status=Status.WAITING)
    waiting = Walker.objects.filter(pilot=pilot_id, status=Status.WAITING).order_by("number")
    try:
        with ThreadPoolExecutor(_at_once(pilot_id), thread_name_prefix="pilot") as pool:
            pending = {pool.submit(_send, walker, held) for walker in waiting.values_list("pk", flat=True)}
            while pending:
                _done, pending = wait(pending, timeout=LOOK_SECONDS)
                if held.is_set() and not _hold(pilot_id, holder):
                    held.clear()
    finally:
        _finish(pilot_id, holder)


def _at_once(pilot_id: int) -> int:
    """Return how many participants run at once: enough for the largest group plus some that fail."""
    cells = Pilot.objects.get(pk=pilot_id).content["cells"]
    return max(AT_ONCE, *(len(people_in(seats_in(cell))) + 2 for cell in cells))


def _hold(pilot_id: int, holder: str, *, taking: bool = False) -> bool:
    """Take or renew the lease; return False if another worker holds the pilot or it was stopped."""
    pilots = Pilot.objects.filter(pk=pilot_id, status=Pilot.Status.RUNNING)
    length = timedelta(seconds=LEASE_SECONDS)
    return (leasing.take if taking else leasing.renew)(pilots, holder, length) == 1


def _finish(pilot_id: int, holder: str) -> None:
    """Release the lease, and close the pilot if no participant is left."""
    mine = Pilot.objects.filter(pk=pilot_id, holder=holder)
    leasing.release(mine, holder)
    left = Walker.objects.filter(pilot=pilot_id, status__in=[Status.WAITING, Status.WALKING])
    if not left.exists():
        mine.filter(status=Pilot.Status.RUNNING).update(status=Pilot.Status.DONE, ended_at=timezone.now())


def _send(walker_id: int, held: threading.Event) -> None:
    """Run one participant, recording any error where the researcher sees it."""
    walkers = Walker.objects.filter(pk=walker_id)
    try:
        if not held.is_set():
            return
        walkers.update(status=Status.WALKING, attempts=F("attempts") + 1)
        walker = walkers.select_related("pilot__study", "enrolment").get()
        if walker.attempts > MAX_ATTEMPTS:
            raise Stuck(_("Started too often: the worker died every time."))
        Person(walker, goes_on=held.is_set).walk()
        walkers.update(status=Status.ARRIVED, problem="")
    except Interrupted:
        walkers.update(status=Status.WAITING)
    except Stuck as stuck:
        walkers.update(status=Status.STUCK, problem=str(stuck)[:500])
    except Exception as error:
        log.exception("a simulated participant of pilot walker %s failed", walker_id)
        says = _("Unexpected error: {kind}.").format(kind=type(error).__name__)
        walkers.update(status=Status.STUCK, problem=says)
    finally:
        connections.close_all()
