import logging

from celery import shared_task
from celery.signals import worker_ready

from payouts import paying

log = logging.getLogger(__name__)


@shared_task(name="payouts.pay")
def pay() -> None:
    """Pay what is approved and find out about what was sent."""
    paying.pay_due()


def soon() -> None:
    """Let a worker pay now. Only a hint: the clock asks every few seconds, also when this is lost."""
    try:
        pay.delay()
    except Exception as error:  # noqa: BLE001  (any broker failure: the clock queues it)
        log.warning("paying is not queued, the clock will: %s", type(error).__name__)


@worker_ready.connect
def pay_at_start(**_signal) -> None:
    pay.delay()
