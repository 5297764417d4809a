"""The Celery app: a worker answers the agents' turns, beat schedules the sweeps."""

import os

from celery import Celery
from celery.signals import worker_ready

from config.memory import freeze_loaded_objects

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("parley")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def settle(**_signal: object) -> None:
    freeze_loaded_objects()
