"""Sending results to the oTree servers that are owed them, until they have arrived.

`POST /api/participant_vars/{code}` of oTree's REST interface, with the key in the header otree-rest-key.
A second delivery writes the same value again, so trying once too often does no harm.
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
"""Results that one sweep sends to one server."""
PATIENCE = 10
"""Seconds that an oTree server may take to answer."""
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=2), timedelta(minutes=10)
GIVEN_UP_AFTER = timedelta(days=7)
_GONE = 404
_GONE_SAYS = b"Participant"
"""What oTree's own 404 names; one of a proxy before an oTree that is just starting does not."""
_ENOUGH = 2000
"""Bytes of an answer that are looked at; oTree's own have fewer."""


class _NotTaken(Exception):
    """The server did not take the result; `str(error)` says why without telling keys or people.

    Attributes:
        for_good: it never will.
        silent: it does not answer at all, so that others need not try now.
    """

    def __init__(self, problem: str, *, for_good: bool = False, silent: bool = False):
        super().__init__(problem)
        self.for_good, self.silent = for_good, silent


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Nobody but the address that was entered is sent the key."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


def deliver_due() -> int:
    """Try what is due, each server's results one after the other; returns how many arrived."""
    due = _due().order_by("next_at").values_list("enrolment__identity__study", flat=True)
    arrived = 0
    for study in dict.fromkeys(due):
        try:
            arrived += _deliver_to(study)
        except Exception:
            log.exception("Results of the study %s cannot be sent; those of others are.", study)
    return arrived


def _due() -> QuerySet[Delivery]:
    return Delivery.objects.filter(state=Delivery.State.DUE, next_at__lte=timezone.now())


def _deliver_to(study: str) -> int:
    """Send what is due to one study's server, until it is silent; returns how many arrived."""
    arrived = 0
    for _i in range(AT_ONCE):
        due = _due().filter(enrolment__identity__study=study)
        delivery = due.order_by("next_at", "pk").first()
        # While one is under way the others wait: a server that hangs holds one of our threads and no more.
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
    """Whether this attempt is ours. Should we die in it, it is tried again after `until` and the usual wait."""
    mine = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.DUE, next_at=delivery.next_at)
    return bool(mine.update(next_at=until + _wait(delivery), attempts=F("attempts") + 1))


def _wait(delivery: Delivery) -> timedelta:
    return min(FIRST_WAIT * 2 ** min(delivery.attempts, 10), LONGEST_WAIT)


def _deliver(delivery: Delivery) -> None:
    """Raises _NotTaken, with the reason written down."""
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
        raise _NotTaken(_("The person has been erased: nobody knows any more who this was in oTree."), for_good=True)
    person = identity.enrolment
    server = OtreeServer.objects.filter(study=identity.study).first()
    key = server.rest_key() if server is not None else None
    if server is None or not key:
        raise _NotTaken(_("The study has no oTree server any more, or its key cannot be read. Enter it again."))
    if not otree.is_allowed(person.return_to, server):
        raise _NotTaken(_("The address that this person came from is no longer one of the study's."))
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
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: no address that can be asked
        log.info("An oTree server cannot be reached: %s", type(error).__name__)
        raise _NotTaken(_("The oTree server cannot be reached."), silent=True) from None
    if not _is_json(told):
        raise _NotTaken(_("Something else than oTree answers at its address, perhaps a proxy before it."))


def _read(error: urllib.error.HTTPError) -> bytes:
    """What a refusal says, as far as it arrives."""
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
        return _NotTaken(_("The oTree server does not know this participant (any more)."), for_good=True)
    if status in (401, 403):
        return _NotTaken(_("The oTree server refuses the key. Enter its OTREE_REST_KEY again."))
    return _NotTaken(_("The oTree server answers {status}.").format(status=status))
