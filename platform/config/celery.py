"""The Celery app: a worker answers the agents' turns, beat schedules the sweeps."""

import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from celery import Celery
from celery.schedules import crontab
from celery.signals import worker_ready

from config.memory import freeze_loaded_objects

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
log = logging.getLogger(__name__)
MAX_DELAY_SECONDS = 5.0
"""Seconds after which a task that could not be sent is dropped."""


class Parley(Celery):
    """Sends tasks from a thread of its own, so nobody waits for the broker and nothing fails without it.

    A lost task costs time: the database holds what is to be done, and the sweeps queue it again.
    """

    _sender = ThreadPoolExecutor(1, thread_name_prefix="tasks")

    def send_task(self, name: str, *args: Any, producer: Any = None, **options: Any) -> None:
        """Send a task soon. `producer` is ignored: beat's own belongs to another thread."""
        self._sender.submit(self._send, time.monotonic() + MAX_DELAY_SECONDS, name, args, options)

    def wait_until_sent(self) -> None:
        """Wait until no task is left to be sent."""
        self._sender.submit(lambda: None).result()

    def _send(self, deadline: float, name: str, args: Any, options: Any) -> None:
        if time.monotonic() > deadline:
            return
        try:
            super().send_task(name, *args, **options)
        except Exception:
            log.exception("%s was not sent", name)


app = Parley("parley")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@app.on_after_configure.connect
def check_every_night(sender: Celery, **_signal: object) -> None:
    check = sender.signature("studies.check_people")
    sender.add_periodic_task(crontab(hour=3, minute=30), check, queue="default", expires=6 * 60 * 60)


@worker_ready.connect
def settle(**_signal: object) -> None:
    freeze_loaded_objects()
