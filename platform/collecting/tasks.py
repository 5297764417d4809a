from celery import shared_task
from celery.signals import worker_ready
from django.conf import settings

from collecting import driver, sweeps
from collecting.models import Collection

EXPIRES_SECONDS = 10
"""A task that no worker has taken by then is dropped; the next sweep queues another."""


@shared_task(name="collecting.drive")
def drive(collection_id: int, slot: int) -> None:
    """Play a collection's matches."""
    driver.drive(Collection.objects.get(pk=collection_id), slot)


@shared_task(name="collecting.sweep")
def sweep() -> None:
    """Queue drivers for every running collection that needs them."""
    for collection_id in sweeps.undriven():
        for slot in range(settings.COLLECTION_DRIVERS):
            drive.apply_async((collection_id, slot), expires=EXPIRES_SECONDS)


@worker_ready.connect
def sweep_at_start(**_signal) -> None:
    sweep.delay()
