import uuid

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown

from matches import agents, leases, speaking, sweeps


@shared_task(name="matches.play_turn")
def play_turn(match_uid: str, role: str, answering: int) -> None:
    """Answer an agent's turn; a thinking agent continues after this task has ended."""
    agents.begin_turn(match_uid=uuid.UUID(match_uid), role=role, answering=answering)


@shared_task(name="matches.speak")
def speak(match_id: int) -> None:
    """Let the models of a match look whether they want to write in its chat."""
    speaking.begin(match_id)


@shared_task(name="matches.sweep")
def sweep() -> None:
    """Queue turns without a lease and handle overdue ones."""
    sweeps.sweep()


@worker_ready.connect
def sweep_at_start(**_signal) -> None:
    sweep.delay()


@worker_shutdown.connect
def leave_turns_to_others(**_signal) -> None:
    leases.give_back_all()
