"""What makes every live match go on by itself, whatever was killed or lost."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from matches import announce, leases, services
from matches.models import Match, Turn

QUEUED_SECONDS = 4
"""How long a queued turn may go without a worker taking it before it is queued again."""


def sweep() -> None:
    """Queue the agents' turns that nobody thinks about, and let overdue turns run out."""
    requeue_waiting()
    run_out_overdue(Turn.objects.all())
    abandon_deserted()


def requeue_waiting() -> int:
    """Queue again every agent's turn that is open, unleased and was queued long enough ago; returns how many."""
    now = timezone.now()
    lost = Turn.objects.filter(leases.free(now), by_agent=True, closed_at=None).filter(
        Q(queued_at=None) | Q(queued_at__lt=now - timedelta(seconds=QUEUED_SECONDS))
    )
    turns = list(lost)
    for turn in turns:
        # Only one of several sweeps at once wins this update, so the turn is queued once.
        if Turn.objects.filter(pk=turn.pk, queued_at=turn.queued_at).update(queued_at=now):
            announce.queue_turn(turn)
    return len(turns)


def run_out_overdue(turns) -> None:
    """Apply the clock to those of `turns` whose deadline has passed."""
    overdue = turns.filter(closed_at=None, deadline__lt=timezone.now())
    for match_id, role, answering in overdue.values_list("match_id", "role", "answering"):
        services.let_time_run_out(match_id=match_id, role=role, answering=answering)


def abandon_deserted() -> None:
    """End live matches whose person's way has ended elsewhere (withdrew, dropped out)."""
    deserted = Match.objects.filter(status=Match.Status.LIVE, seats__enrolment__ended_at__isnull=False)
    for match_id, role, state in deserted.values_list("pk", "seats__role", "seats__enrolment__state"):
        services.abandon_match(match_id=match_id, reason=state, role=role)
