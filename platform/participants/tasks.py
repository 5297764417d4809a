from celery import shared_task

from participants import services


@shared_task(name="participants.sweep")
def sweep() -> None:
    """End expired enrolments and free their places."""
    services.end_expired()
