from celery import shared_task

from helping import services


@shared_task(name="helping.sweep")
def sweep() -> None:
    """Pause clocks for questions that were asked before a turn opened."""
    services.hold_clocks()
