"""Deliver results to oTree servers, retrying until they arrive.

Uses `POST /api/participant_vars/{code}` of oTree's REST API, with the key in the header otree-rest-key. A
second delivery writes the same value again, so delivering twice does no harm.
"""

from __future__ import annotations

import json
import logging
from datetime import datetime, timedelta
from typing import Any

import httpx2
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from api.outcomes import outcome_of
from outgoing.client import AddressRefused, ask
from recruiters import otree
from recruiters.models import Delivery, Identity, OtreeServer
from studies.models import Study

log = logging.getLogger(__name__)

MAX_PER_SWEEP = 20
"""Maximum number of results that one sweep sends to one server."""
TIMEOUT_SECONDS = 10
"""How long to wait for an oTree server, in seconds."""
FIRST_WAIT, LONGEST_WAIT = timedelta(seconds=2), timedelta(minutes=10)
GIVE_UP_AFTER = timedelta(days=7)
_UNKNOWN_STATUS = 404
_UNKNOWN_TEXT = b"Participant"
"""Text in oTree's own 404 responses; a proxy's 404 responses while oTree is starting lack it."""


class DeliveryFailed(Exception):
    """The oTree server did not accept a request; `str(error)` gives the reason without keys or names.

    Attributes:
        permanent: the server will never accept it.
        unreachable: the server does not respond at all, so its other results have to wait too.
    """

    def __init__(self, problem: str, *, permanent: bool = False, unreachable: bool = False):
        super().__init__(problem)
        self.permanent, self.unreachable = permanent, unreachable


def deliver_due() -> int:
    """Deliver what is due, one result at a time per server; return how many arrived."""
    studies = _due().order_by("next_at").values_list("enrolment__identity__study", flat=True)
    arrived = 0
    for study in dict.fromkeys(studies):
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
    for _i in range(MAX_PER_SWEEP):
        due_deliveries = _due().filter(enrolment__identity__study=study)
        delivery = due_deliveries.order_by("next_at", "pk").first()
        # Deliver one result at a time, so that a server that hangs blocks only one of our threads.
        until = timezone.now() + timedelta(seconds=TIMEOUT_SECONDS)
        if delivery is None or not _claim(delivery, until):
            break
        due_ids = [row.pk for row in due_deliveries]
        Delivery.objects.filter(pk__in=due_ids, state=Delivery.State.DUE).update(next_at=until)
        try:
            _deliver(delivery)
            arrived += 1
            retry_at = timezone.now()
        except DeliveryFailed as failure:
            retry_at = timezone.now() + (_wait(delivery) if failure.unreachable else timedelta())
        Delivery.objects.filter(pk__in=due_ids, state=Delivery.State.DUE, next_at=until).update(next_at=retry_at)
    return arrived


def _claim(delivery: Delivery, until: datetime) -> bool:
    """Claim this attempt; return False if another worker has claimed it.

    If this process crashes, the delivery is retried after `until`.
    """
    claimable = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.DUE, next_at=delivery.next_at)
    return bool(claimable.update(next_at=until + _wait(delivery), attempts=F("attempts") + 1))


def _wait(delivery: Delivery) -> timedelta:
    return min(FIRST_WAIT * 2 ** min(delivery.attempts, 10), LONGEST_WAIT)


def _deliver(delivery: Delivery) -> None:
    """Deliver one result; if that fails, save the reason and raise `DeliveryFailed`."""
    row = Delivery.objects.filter(pk=delivery.pk)
    try:
        _post(delivery)
    except DeliveryFailed as failure:
        too_old = delivery.since < timezone.now() - GIVE_UP_AFTER
        state = Delivery.State.GIVEN_UP if failure.permanent or too_old else Delivery.State.DUE
        row.update(state=state, problem=str(failure)[:200], next_at=timezone.now() + _wait(delivery))
        raise
    row.update(state=Delivery.State.DELIVERED, problem="")


def _post(delivery: Delivery) -> None:
    """Post one result to its oTree server; raise `DeliveryFailed` if the server does not accept it."""
    identity = Identity.objects.select_related("enrolment").filter(enrolment_id=delivery.enrolment_id).first()
    if identity is None:
        raise DeliveryFailed(_("The participant was erased, so their code in oTree is unknown."), permanent=True)
    person = identity.enrolment
    server = OtreeServer.objects.filter(study=identity.study).first()
    if server is None:
        raise DeliveryFailed(_("The study no longer has an oTree server. Add it again."))
    if not otree.is_allowed(person.return_to, server):
        raise DeliveryFailed(_("This participant came from an address that the study no longer accepts."))
    outcome = outcome_of(Study.objects.get(slug=identity.study), person)
    signed_vars = otree.signed_vars(identity, server, outcome.model_dump(mode="json"))
    call(server, otree.rest_address(person.return_to), {"vars": signed_vars})


@sensitive_variables("key")
def call(server: OtreeServer, address: str, body: dict[str, Any] | None = None) -> None:
    """Send a request to the oTree server's REST API: POST with a body, otherwise GET.

    Raises:
        DeliveryFailed: oTree did not accept it.
    """
    key = server.rest_key()
    if not key:
        raise DeliveryFailed(_("The stored REST API key cannot be read. Enter the server's OTREE_REST_KEY again."))
    try:
        response = ask(
            "GET" if body is None else "POST",
            address,
            content=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "otree-rest-key": key},
            timeout=httpx2.Timeout(TIMEOUT_SECONDS),
            seconds=TIMEOUT_SECONDS,
        )
    except AddressRefused as refusal:
        raise DeliveryFailed(str(refusal), unreachable=True) from None
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        log.info("Could not reach an oTree server: %s", type(error).__name__)
        raise DeliveryFailed(_("Could not reach the oTree server."), unreachable=True) from None
    if response.status_code >= 300:
        raise _failure(response.status_code, response.content)
    if not _is_json(response.content):
        raise DeliveryFailed(_("Something other than oTree responds at this address, perhaps a proxy."))


def _is_json(reply: bytes) -> bool:
    try:
        return isinstance(json.loads(reply), dict)
    except ValueError:
        return False


def _failure(status: int, reply: bytes) -> DeliveryFailed:
    if status == _UNKNOWN_STATUS and _UNKNOWN_TEXT in reply:
        return DeliveryFailed(_("The oTree server does not, or no longer, know this participant."), permanent=True)
    if status in (401, 403):
        return DeliveryFailed(_("The oTree server rejected the key. Enter its OTREE_REST_KEY again."))
    return DeliveryFailed(_("The oTree server responded with status {status}.").format(status=status))
