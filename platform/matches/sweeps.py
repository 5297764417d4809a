"""Keep every live match going after crashes and lost messages."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from matches import announce, leases, services
from matches.absences import ABSENT_AFTER
from matches.change import REQUEUE_SECONDS
from matches.models import Match, Seat


def sweep() -> None:
    """Queue agents' turns without a lease, note absences, and handle overdue turns."""
    requeue_waiting()
    note_absences()
    time_out_overdue()
    leave_for_ended_enrolments()


def requeue_waiting() -> int:
    """Queue again every agent's turn that has waited too long without a lease; return how many."""
    now = timezone.now()
    next_time = now + timedelta(seconds=REQUEUE_SECONDS)
    queued = 0
    for match in Match.objects.filter(status=Match.Status.LIVE, requeue_at__lt=now):
        # Only one of several concurrent sweeps wins this update, so a turn is queued once.
        if not Match.objects.filter(pk=match.pk, requeue_at=match.requeue_at).update(requeue_at=next_time):
            continue
        leased = leases.leased_turns(match.pk)
        for turn in match.open_turns().values():
            if turn.by_agent and (turn.role, turn.answering) not in leased:
                announce.queue_turn(match, turn)
                queued += 1
    return queued


def note_absences() -> None:
    """Record in each live match which participants' pages have not been heard from for too long."""
    seats = Seat.objects.filter(
        match__status=Match.Status.LIVE,
        left_at=None,
        enrolment__ended_at=None,
        enrolment__last_seen_at__lt=timezone.now() - ABSENT_AFTER,
    )
    columns = ("role", "match__absences", "match__timers", "match__purpose")
    silent = {seat.match for seat in seats.select_related("match").only(*columns) if services.may_be_absent(seat)}
    for match in silent:
        services.note_absences(match_id=match.pk)


def time_out_overdue() -> None:
    """Apply the time-out rules to every match with an overdue turn."""
    overdue = Match.objects.filter(status=Match.Status.LIVE, deadline__lt=timezone.now())
    for match_id in overdue.values_list("pk", flat=True):
        services.handle_time_outs(match_id=match_id)


def leave_for_ended_enrolments() -> None:
    """Remove participants whose enrolment has ended elsewhere (withdrew, dropped out) from their live matches."""
    deserted_seats = Seat.objects.filter(
        match__status=Match.Status.LIVE, enrolment__ended_at__isnull=False, left_at__isnull=True
    )
    for match_id, role, state in deserted_seats.values_list("match", "role", "enrolment__state"):
        services.leave(match_id=match_id, reason=state, role=role)
