"""Deliver results to oTree servers, retrying until they arrive.

Uses `POST /api/participant_vars/{code}` of oTree's REST API, with the key in the header otree-rest-key. A
second delivery writes the same value again, so an extra attempt does no harm.
"""

from __future__ import annotations

import http.client
import json
import logging
import urllib.error
import urllib.request
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from api.outcomes import outcome_of
from recruiters import otree
from recruiters.models import Delivery, Identity, OtreeServer
from studies.models import Study

log = logging.getLogger(__name__)

AT_ONCE = 20
"""The most results that one sweep sends to one server."""
PATIENCE = 10
"""How long to wait for an oTree server, in seconds."""
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=2), timedelta(minutes=10)
GIVEN_UP_AFTER = timedelta(days=7)
_GONE = 404
_GONE_SAYS = b"Participant"
"""In the text of oTree's own 404 responses, unlike those of a proxy while oTree is starting."""
_ENOUGH = 2000
"""How many bytes of a response are read; oTree's own responses are shorter."""


class _NotTaken(Exception):
    """The server did not accept the result; `str(error)` gives the reason without keys or names.

    Attributes:
        for_good: it never will.
        silent: the server does not respond at all, so its other results have to wait too.
    """

    def __init__(self, problem: str, *, for_good: bool = False, silent: bool = False):
        super().__init__(problem)
        self.for_good, self.silent = for_good, silent


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Send the key to no other address than the one entered."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


def deliver_due() -> int:
    """Deliver what is due, one result at a time per server; return how many arrived."""
    due = _due().order_by("next_at").values_list("enrolment__identity__study", flat=True)
    arrived = 0
    for study in dict.fromkeys(due):
        try:
            arrived += _deliver_to(study)
        except Exception:
            log.exception("Results of the study %s cannot be delivered; other studies are not affected.", study)
    return arrived


def _due() -> QuerySet[Delivery]:
    return Delivery.objects.filter(state=Delivery.State.DUE, next_at__lte=timezone.now())


def _deliver_to(study: str) -> int:
    """Deliver what is due to one study's server until it stops responding; return how many arrived."""
    arrived = 0
    for _i in range(AT_ONCE):
        due = _due().filter(enrolment__identity__study=study)
        delivery = due.order_by("next_at", "pk").first()
        # One delivery at a time: a server that hangs blocks only one of our threads.
        until = timezone.now() + timedelta(seconds=PATIENCE)
        if delivery is None or not _taken(delivery, until):
            break
        held = [one.pk for one in due]
        Delivery.objects.filter(pk__in=held, state=Delivery.State.DUE).update(next_at=until)
        try:
            _deliver(delivery)
            arrived += 1
            again_at = timezone.now()
        except _NotTaken as refusal:
            again_at = timezone.now() + (_wait(delivery) if refusal.silent else timedelta())
        Delivery.objects.filter(pk__in=held, state=Delivery.State.DUE, next_at=until).update(next_at=again_at)
    return arrived


def _taken(delivery: Delivery, until: datetime) -> bool:
    """Claim this attempt; return False if another worker has. If we crash, it is retried after `until`."""
    mine = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.DUE, next_at=delivery.next_at)
    return bool(mine.update(next_at=until + _wait(delivery), attempts=F("attempts") + 1))


def _wait(delivery: Delivery) -> timedelta:
    return min(FIRST_WAIT * 2 ** min(delivery.attempts, 10), LONGEST_WAIT)


def _deliver(delivery: Delivery) -> None:
    """Raise _NotTaken if it failed; the reason is saved."""
    written = Delivery.objects.filter(pk=delivery.pk)
    try:
        _post(delivery)
    except _NotTaken as refusal:
        too_old = delivery.since < timezone.now() - GIVEN_UP_AFTER
        state = Delivery.State.GIVEN_UP if refusal.for_good or too_old else Delivery.State.DUE
        written.update(state=state, problem=str(refusal)[:200], next_at=timezone.now() + _wait(delivery))
        raise
    written.update(state=Delivery.State.DELIVERED, problem="")


@sensitive_variables("key")
def _post(delivery: Delivery) -> None:
    """Raises _NotTaken."""
    identity = Identity.objects.select_related("enrolment").filter(enrolment_id=delivery.enrolment_id).first()
    if identity is None:
        raise _NotTaken(_("The participant was erased, so who this was in oTree is unknown."), for_good=True)
    person = identity.enrolment
    server = OtreeServer.objects.filter(study=identity.study).first()
    key = server.rest_key() if server is not None else None
    if server is None or not key:
        raise _NotTaken(_("The study no longer has an oTree server, or its key cannot be read. Enter the key again."))
    if not otree.is_allowed(person.return_to, server):
        raise _NotTaken(_("This participant came from an address that the study no longer accepts."))
    outcome = outcome_of(Study.objects.get(slug=identity.study), person)
    _code, _slash, round_of_app = identity.proof.partition("/")
    body = json.dumps({"vars": {round_of_app: outcome.model_dump(mode="json")}}).encode()
    headers = {"Content-Type": "application/json", "otree-rest-key": key}
    request = urllib.request.Request(otree.rest_address(person.return_to), data=body, headers=headers, method="POST")
    try:
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=PATIENCE) as answer:
            told = answer.read(_ENOUGH)
    except urllib.error.HTTPError as error:
        raise _refusal(error.code, _read(error)) from None
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: an invalid URL
        log.info("Could not reach an oTree server: %s", type(error).__name__)
        raise _NotTaken(_("Could not reach the oTree server."), silent=True) from None
    if not _is_json(told):
        raise _NotTaken(_("Something other than oTree responds at this address, perhaps a proxy."))


def _read(error: urllib.error.HTTPError) -> bytes:
    """Return the body of an error response, as far as it arrives."""
    try:
        with error:
            return error.read(_ENOUGH)
    except (OSError, http.client.HTTPException):
        return b""


def _is_json(told: bytes) -> bool:
    try:
        return isinstance(json.loads(told), dict)
    except ValueError:
        return False


def _refusal(status: int, told: bytes) -> _NotTaken:
    if status == _GONE and _GONE_SAYS in told:
        return _NotTaken(_("The oTree server does not know this participant, or no longer does."), for_good=True)
    if status in (401, 403):
        return _NotTaken(_("The oTree server rejected the key. Enter its OTREE_REST_KEY again."))
    return _NotTaken(_("The oTree server responded with status {status}.").format(status=status))
