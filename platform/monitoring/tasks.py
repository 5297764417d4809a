from celery import shared_task

from monitoring.tallies import tally_everything


@shared_task(name="monitoring.tally")
def tally() -> None:
    """Add up what has ended since the last time."""
    tally_everything()
