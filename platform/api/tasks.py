from celery import shared_task

from api import delivery


@shared_task(name="api.deliver")
def deliver() -> None:
    """Deliver the results that are due to oTree servers."""
    delivery.deliver_due()
