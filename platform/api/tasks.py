from celery import shared_task

from api import delivery


@shared_task(name="api.deliver")
def deliver() -> None:
    """Send the results that oTree servers are owed."""
    delivery.deliver_due()
