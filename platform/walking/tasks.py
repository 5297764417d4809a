from celery import shared_task

from walking import services


@shared_task(name="walking.sweep")
def sweep() -> None:
    """Delete walks that are over."""
    services.delete_old()
