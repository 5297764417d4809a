from celery import shared_task

from studies import recomputing


@shared_task(name="studies.check_people")
def check_people() -> None:
    """Recompute everybody's pay from the log, and store what differs."""
    recomputing.check_and_store()
