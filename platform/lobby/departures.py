"""Removes participants whose enrolment ends from the lobby immediately, and from a group that was not ready yet."""

from __future__ import annotations

from functools import partial

from django.db import transaction
from django.dispatch import receiver

from lobby import services
from lobby.models import Place
from participants.models import Enrolment
from participants.signals import enrolment_ended


@receiver(enrolment_ended)
def leave_the_lobby(sender: type[Enrolment], enrolment: Enrolment, **_signal) -> None:
    for hall_id, pool in Place.objects.filter(services.WAITING, enrolment=enrolment).values_list("hall", "pool"):
        transaction.on_commit(partial(services.update_pool, hall_id, pool))
