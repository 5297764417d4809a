"""What follows when somebody from oTree has ended their way: their experiment is owed a result."""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from participants.models import Enrolment
from participants.signals import enrolment_ended
from recruiters import otree
from recruiters.models import Delivery, Identity, OtreeServer


@receiver(enrolment_ended)
def owe_result(sender: type[Enrolment], enrolment: Enrolment, **_signal: Any) -> None:
    """Note it in the transaction that ends the way, so that no crash forgets it."""
    identity = Identity.objects.filter(enrolment=enrolment, recruiter=otree.KIND).first()
    server = OtreeServer.objects.filter(study=identity.study).first() if identity else None
    if server is not None and server.sealed_rest_key:
        Delivery.objects.get_or_create(enrolment=enrolment)
