import logging

from celery import shared_task
from celery.signals import worker_ready

from payouts import paying

log = logging.getLogger(__name__)


@shared_task(name="payouts.pay")
def pay() -> None:
    """Pay approved rows and look up sent ones."""
    paying.pay_due()


def soon() -> None:
    """Queue paying now, instead of waiting until beat queues it within a few seconds."""
    try:
        pay.delay()
    except Exception as error:  # noqa: BLE001  (any broker failure: beat queues it)
        log.warning("payments could not be queued now; beat will queue them: %s", type(error).__name__)


@worker_ready.connect
def pay_at_start(**_signal) -> None:
    pay.delay()
