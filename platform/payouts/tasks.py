from celery import shared_task
from celery.signals import worker_ready

from payouts import paying


@shared_task(name="payouts.pay")
def pay() -> None:
    """Pay what is approved and find out about what was sent."""
    paying.pay_due()


@worker_ready.connect
def pay_at_start(**_signal) -> None:
    pay.delay()
