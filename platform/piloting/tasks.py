from celery import shared_task
from celery.signals import worker_ready

from piloting import driver

EXPIRES_SECONDS = 10
"""Seconds after which a task that no worker has started is dropped; the next sweep queues another."""


@shared_task(name="piloting.drive")
def drive(pilot_id: int) -> None:
    """Run a pilot."""
    driver.drive(pilot_id)


@shared_task(name="piloting.sweep")
def sweep() -> None:
    """Queue every running pilot that no worker holds."""
    for pilot_id in driver.unheld_pilots():
        queue(pilot_id)


def queue(pilot_id: int) -> None:
    """Queue a pilot; if the task is lost, a later sweep queues it."""
    drive.apply_async((pilot_id,), expires=EXPIRES_SECONDS)


@worker_ready.connect
def sweep_at_start(**_signal) -> None:
    sweep.delay()
