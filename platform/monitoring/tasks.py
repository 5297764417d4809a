import time

from celery import shared_task
from celery.signals import beat_init, before_task_publish, worker_ready

from monitoring import alive, readiness
from monitoring.tallies import tally_everything

_beat: dict[str, float] = {}


@shared_task(name="monitoring.tally")
def tally() -> None:
    """Tally what has ended since the last time."""
    tally_everything()


@worker_ready.connect
def start_worker_heartbeat(sender, **_signal) -> None:
    if "turns" in sender.app.amqp.queues.consume_from:
        alive.start_heartbeats("worker")
        readiness.keep_logging_problems()
    else:
        alive.start_heartbeats("collector")


@beat_init.connect
def start_beat_heartbeat(**_signal) -> None:
    _beat["sent"] = 0.0


@before_task_publish.connect
def send_beat_heartbeat(**_signal) -> None:
    """Record that beat is running, which sends a task every second or two."""
    if "sent" in _beat and time.monotonic() - _beat["sent"] > alive.HEARTBEAT_INTERVAL:
        alive.send_heartbeat("beat")
        _beat["sent"] = time.monotonic()
