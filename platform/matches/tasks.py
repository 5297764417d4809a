import uuid

from celery import shared_task
from celery.signals import worker_ready

from matches import agents, sweeps


@shared_task(name="matches.play_turn")
def play_turn(match_uid: str, role: str, answering: int) -> None:
    """An agent's turn."""
    agents.answer_turn(match_uid=uuid.UUID(match_uid), role=role, answering=answering)


@shared_task(name="matches.sweep")
def sweep() -> None:
    """Find the turns that wait for nobody."""
    sweeps.sweep()


@worker_ready.connect
def sweep_at_start(**_signal) -> None:
    sweep.delay()
