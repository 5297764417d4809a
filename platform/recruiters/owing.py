"""Schedule the delivery of results to oTree when a participant's enrolment ends."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from participants.models import Enrolment
from participants.signals import enrolment_ended
from recruiters import otree
from recruiters.models import Delivery, Identity, OtreeServer


@receiver(enrolment_ended)
def owe_result(sender: type[Enrolment], enrolment: Enrolment, **_signal: Any) -> None:
    """Create the delivery in the transaction that ends the enrolment, so that a crash cannot lose it."""
    identity = Identity.objects.filter(enrolment=enrolment, recruiter=otree.KIND).first()
    server = OtreeServer.objects.filter(study=identity.study).first() if identity else None
    if server is not None and server.sealed_rest_key:
        Delivery.objects.get_or_create(enrolment=enrolment)
