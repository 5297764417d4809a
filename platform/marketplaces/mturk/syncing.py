"""Fetch a study's tasks and assignments from mTurk, and record what has changed.

mTurk shows an assignment only after it is submitted, and never one that was returned. A participant therefore counts as
gone when another worker has submitted their assignment, when its time is over, or when mTurk counts no worker on the
task and their page has sent no signal for a while.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from marketplaces import rejecting
from marketplaces.models import Recruitment
from marketplaces.mturk import publishing, resting
from marketplaces.mturk.client import AssignmentNow, Refused, Requester, requester_of
from marketplaces.mturk.models import KEY, Assignment, Hit
from participants import services
from participants.models import Enrolment
from participants.states import State
from recruiters.models import Identity

SILENT_AFTER = timedelta(minutes=2)
"""Time without a signal from a participant's page after which they can count as gone."""
GRACE = timedelta(minutes=5)
"""Extra time before an unsubmitted assignment counts as abandoned, because clocks differ."""


def sync(recruitment: Recruitment) -> None:
    """Sync all of a study's tasks with mTurk.

    Raises:
        MarketplaceError: what was recorded before the error is kept.
    """
    requester = requester_of(recruitment.account)
    hits = Hit.objects.filter(study=recruitment.study, account=recruitment.account)
    identities = _identities_by_assignment(recruitment.study.slug)
    for hit in hits.exclude(state__in=[Hit.State.REFUSED, Hit.State.DISPOSED]).order_by("pk"):
        if hit.hit_id is None:
            publishing.find_ordered(hit, requester)
        if hit.hit_id is not None:
            _sync_hit(hit, requester, identities)
    for game in recruitment.study.games:
        resting.sync_qualifications(recruitment.account, game, requester)


def _sync_hit(hit: Hit, requester: Requester, identities: Mapping[str, Mapping[str, int]]) -> None:
    """Sync one task and its submitted assignments. Known ones are loaded in one query, since most have not changed."""
    asked_at = timezone.now()
    try:
        current = requester.hit(str(hit.hit_id))
        submitted = {assignment.assignment_id: assignment for assignment in requester.assignments(str(hit.hit_id))}
    except Refused as refusal:
        if refusal.code != "hitdoesnotexist":
            raise
        hit.state, hit.available, hit.pending, hit.problem = Hit.State.DISPOSED, 0, 0, str(refusal)
        hit.save(update_fields=["state", "available", "pending", "problem"])
        return
    publishing.record_status(hit, current)
    recorded = {assignment.assignment_id: assignment for assignment in hit.submitted.all()}
    for assignment in submitted.values():
        if not _is_unchanged(
            assignment, recorded.get(assignment.assignment_id), identities.get(assignment.assignment_id, {})
        ):
            record_assignment(hit, assignment)
    _end_absent(hit, submitted, asked_at)


def record_assignment(hit: Hit, assignment: AssignmentNow) -> Assignment:
    """Record a submitted assignment and who arrived here with it; write off its payments if it was rejected."""
    with transaction.atomic():
        previous = Assignment.objects.select_for_update().filter(assignment_id=assignment.assignment_id).first()
        whose, identity = _whose(hit, assignment)
        if previous is not None and previous.whose == Assignment.Whose.OURS and identity is None:
            whose = Assignment.Whose.OURS  # they arrived here and have been erased since
        row, _new = Assignment.objects.update_or_create(
            assignment_id=assignment.assignment_id,
            defaults={"hit": hit, "whose": whose, "identity": identity, **_recorded_fields(assignment)},
        )
        if row.identity is not None:
            rejecting.update_ledger(
                row.identity.enrolment,
                kind=KEY,
                was_rejected=previous is not None and previous.status == Assignment.Status.REJECTED,
                is_rejected=row.status == Assignment.Status.REJECTED,
            )
    return row


def _recorded_fields(assignment: AssignmentNow) -> dict[str, Any]:
    """Return the fields of an assignment on mTurk that are recorded here."""
    return {
        "status": assignment.status if assignment.status in Assignment.Status.values else Assignment.Status.SUBMITTED,
        "submitted_at": assignment.submitted_at,
        "auto_approval_at": assignment.auto_approval_at,
    }


def _identities_by_assignment(study: str) -> dict[str, dict[str, int]]:
    """Return who arrived at this study: for each assignment, its workers and the keys of their identities."""
    by_assignment: dict[str, dict[str, int]] = {}
    identities = Identity.objects.filter(study=study, recruiter=KEY)
    for proof, worker, key in identities.values_list("proof", "worker", "pk"):
        by_assignment.setdefault(proof.partition("/")[0], {})[worker] = key
    return by_assignment


def _is_unchanged(assignment: AssignmentNow, row: Assignment | None, identities: Mapping[str, int]) -> bool:
    """Return whether recording this assignment would change nothing, given the identities of its workers."""
    if row is None or any(getattr(row, name) != value for name, value in _recorded_fields(assignment).items()):
        return False
    identity_key = identities.get(assignment.worker)
    if identity_key is not None or row.whose == Assignment.Whose.OURS:
        return row.identity_id == identity_key
    return row.whose == (Assignment.Whose.OTHER if identities else Assignment.Whose.NOBODY)


def _whose(hit: Hit, assignment: AssignmentNow) -> tuple[Assignment.Whose, Identity | None]:
    identities = Identity.objects.filter(
        study=hit.study.slug, recruiter=KEY, proof__startswith=f"{assignment.assignment_id}/"
    )
    identity = identities.filter(worker=assignment.worker).first()
    if identity is not None:
        return Assignment.Whose.OURS, identity
    return (Assignment.Whose.OTHER if identities.exists() else Assignment.Whose.NOBODY), None


def _end_absent(hit: Hit, submitted: Mapping[str, AssignmentNow], asked_at: datetime) -> None:
    """End the enrolments of workers who have given up their assignment, so that their places are free."""
    in_progress = Identity.objects.filter(
        study=hit.study.slug, recruiter=KEY, enrolment__ended_at=None, details__hitId=hit.hit_id
    )
    for identity in in_progress.select_related("enrolment").defer("enrolment__steps"):
        assignment = submitted.get(identity.details.get("assignmentId", ""))
        if assignment is not None and assignment.worker == identity.worker:
            continue
        taken_over = assignment is not None
        if not (taken_over or _is_absent(identity.enrolment, hit, asked_at)):
            continue
        with transaction.atomic():
            enrolment = services.held(identity.enrolment_id)
            if taken_over or _is_absent(enrolment, hit, asked_at):
                services.end_early(enrolment, State.RETURNED)


def _is_absent(enrolment: Enrolment, hit: Hit, asked_at: datetime) -> bool:
    """Return whether their time was over at `asked_at`, or nobody was working on the task and their page was silent."""
    is_overdue = asked_at > enrolment.arrived_at + timedelta(seconds=hit.duration) + GRACE
    is_silent = enrolment.last_seen_at < asked_at - SILENT_AFTER
    return is_overdue or (hit.pending == 0 and is_silent)
