from celery import shared_task

from marketplaces import syncing


@shared_task(name="marketplaces.sync")
def sync() -> None:
    """Ask the marketplaces about the studies whose time has come."""
    syncing.sync_due()
