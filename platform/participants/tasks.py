from celery import shared_task

from participants import services


@shared_task(name="participants.sweep")
def sweep() -> None:
    """Give back the places of people who are gone."""
    services.drop_absent()
