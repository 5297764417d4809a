from celery import shared_task
from celery.signals import worker_ready

from lobby import services


@shared_task(name="lobby.sweep")
def sweep() -> None:
    """Form overdue groups and end overdue waits in all lobbies."""
    services.sweep()


@worker_ready.connect
def sweep_at_start(**_signal) -> None:
    sweep.delay()
