"""Sending results to the oTree servers that are owed them, until they have arrived.

`POST /api/participant_vars/{code}` of oTree's REST interface, with the key in the header otree-rest-key.
A second delivery writes the same value again, so trying once too often does no harm.
"""

from __future__ import annotations

import json
import logging
import urllib.error
import urllib.request
from datetime import timedelta
from typing import Any

from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from api.outcomes import outcome_of
from recruiters import otree
from recruiters.models import Delivery, Identity, OtreeServer
from studies.models import Study

log = logging.getLogger(__name__)

AT_ONCE = 20
"""Results that one sweep sends."""
PATIENCE = 10
"""Seconds that an oTree server may take to answer."""
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=5), timedelta(minutes=10)
GIVEN_UP_AFTER = timedelta(days=7)
_GONE = 404


class _NotTaken(Exception):
    """The server did not take the result; `str(error)` says why without telling keys or people."""

    def __init__(self, problem: str, *, for_good: bool = False):
        super().__init__(problem)
        self.for_good = for_good


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Nobody but the address that was entered is sent the key."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


def deliver_due() -> int:
    """Try every delivery whose time has come; returns how many arrived."""
    now = timezone.now()
    due = Delivery.objects.filter(state=Delivery.State.DUE, next_at__lte=now).order_by("next_at")[:AT_ONCE]
    return sum(_deliver(delivery) for delivery in due)


def _deliver(delivery: Delivery) -> bool:
    # Whoever moves the next attempt makes this one; should we die, that is when it is tried again.
    wait = min(FIRST_WAIT * 2 ** min(delivery.attempts, 10), LONGEST_WAIT)
    mine = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.DUE, next_at=delivery.next_at)
    if not mine.update(next_at=timezone.now() + wait + timedelta(seconds=PATIENCE), attempts=F("attempts") + 1):
        return False
    written = Delivery.objects.filter(pk=delivery.pk)
    try:
        _post(delivery)
    except _NotTaken as refusal:
        too_old = delivery.since < timezone.now() - GIVEN_UP_AFTER
        state = Delivery.State.GIVEN_UP if refusal.for_good or too_old else Delivery.State.DUE
        written.update(state=state, problem=str(refusal)[:200], next_at=timezone.now() + wait)
        return False
    written.update(state=Delivery.State.DELIVERED, problem="")
    return True


@sensitive_variables("key")
def _post(delivery: Delivery) -> None:
    """Raises _NotTaken."""
    identity = Identity.objects.select_related("enrolment").get(enrolment_id=delivery.enrolment_id)
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
        with urllib.request.build_opener(_NoRedirects).open(request, timeout=PATIENCE):
            pass
    except urllib.error.HTTPError as error:
        error.close()
        raise _refusal(error.code) from None
    except OSError as error:
        log.info("An oTree server cannot be reached: %s", type(error).__name__)
        raise _NotTaken(_("The oTree server cannot be reached.")) from None


def _refusal(status: int) -> _NotTaken:
    if status == _GONE:
        return _NotTaken(_("The oTree server does not know this participant (any more)."), for_good=True)
    if status in (401, 403):
        return _NotTaken(_("The oTree server refuses the key. Enter its OTREE_REST_KEY again."))
    return _NotTaken(_("The oTree server answers {status}.").format(status=status))
