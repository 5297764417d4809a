from celery import shared_task

from marketplaces import syncing


@shared_task(name="marketplaces.sync")
def sync() -> None:
    """Sync the studies that are due from their marketplaces."""
    syncing.sync_due()
