from celery import shared_task
from celery.signals import worker_ready

from payouts import paying


@shared_task(name="payouts.pay")
def pay() -> None:
    """Pay approved rows and look up sent ones."""
    paying.pay_due()


def soon() -> None:
    """Queue paying now, instead of waiting until beat queues it within a few seconds."""
    pay.delay()


@worker_ready.connect
def pay_at_start(**_signal) -> None:
    pay.delay()
