from celery import shared_task

from gathering import services


@shared_task(name="gathering.sweep")
def sweep() -> None:
    """Start sessions whose time has come, and end those that are over."""
    services.sweep()
