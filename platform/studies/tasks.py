from celery import shared_task

from studies import opening, recomputing


@shared_task(name="studies.open_and_close")
def open_and_close() -> None:
    """Close the studies whose time has come, and record what opened and closed."""
    opening.carry_out()


@shared_task(name="studies.check_people")
def check_people() -> None:
    """Recompute everybody's pay from the log, and store what differs."""
    recomputing.check_and_store()
