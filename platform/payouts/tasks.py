import logging

from celery import shared_task
from celery.signals import worker_ready

from payouts import paying

log = logging.getLogger(__name__)


@shared_task(name="payouts.pay")
def pay() -> None:
    """Pay what is approved and look up what was sent."""
    paying.pay_due()


def soon() -> None:
    """Queue paying now. Only a shortcut: beat queues it every few seconds anyway."""
    try:
        pay.delay()
    except Exception as error:  # noqa: BLE001  (any broker failure: beat queues it)
        log.warning("paying could not be queued now, beat will queue it: %s", type(error).__name__)


@worker_ready.connect
def pay_at_start(**_signal) -> None:
    pay.delay()
