"""Fetch a study's tasks and assignments from mTurk, record what has changed, and keep our own qualifications.

mTurk shows an assignment only after it is submitted, and never one that was returned. A participant therefore counts as
gone when another worker has submitted their assignment, when its time is over, or when mTurk counts no worker on the
task and their page has sent no signal for a while.

A qualification hides a task from workers who recently began to play the same game. Its value is the time at which the
game began, in minutes since 1970. Workers receive it when they begin to play and lose it when the rest period is over.
In between, the entry check (`studies.participations`) refuses them anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from marketplaces import submissions
from marketplaces.models import Account, Recruitment
from marketplaces.mturk import publishing
from marketplaces.mturk.client import AssignmentNow, Holder, Refused, Requester, requester_of
from marketplaces.mturk.deciding import report_of
from marketplaces.mturk.models import KEY, Granted, Hit, Qualification
from matches.models import Match
from participants import services
from participants.models import Enrolment
from participants.states import State
from recruiters.models import Identity
from studies.models import Version

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
    for hit in hits.exclude(state__in=[Hit.State.REFUSED, Hit.State.DISPOSED]).order_by("pk"):
        if hit.hit_id is None:
            publishing.find_ordered(hit, requester)
        if hit.hit_id is not None:
            _sync_hit(hit, requester)
    for game in recruitment.study.games:
        sync_qualifications(recruitment.account, game, requester)


def _sync_hit(hit: Hit, requester: Requester) -> None:
    hit_id, asked_at = str(hit.hit_id), timezone.now()
    try:
        current, assignments = requester.hit(hit_id), requester.assignments(hit_id)
    except Refused as refusal:
        if refusal.code != "hitdoesnotexist":
            raise
        publishing.save(hit, state=Hit.State.DISPOSED, available=0, pending=0, problem=str(refusal))
        return
    publishing.record_status(hit, current)
    submissions.record_all(hit.study, hit.account, hit_id, [report_of(assignment) for assignment in assignments])
    _end_absent(hit, {assignment.assignment_id: assignment for assignment in assignments}, asked_at)


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


# ---- our own qualifications ------------------------------------------------------------------------


def sync_qualifications(account: Account, game: str, requester: Requester) -> None:
    """Grant the game's qualifications to workers who began to play it; remove them when the rest period is over.

    Raises:
        MarketplaceError
    """
    for own in Qualification.objects.filter(account=account, game=game):
        _grant_to_starters(own, requester)
        query = {"QualificationTypeId": own.qualification_id, "Status": "Granted"}
        for holder in requester.rows("list_workers_with_qualification_type", "Qualifications", Holder, **query):
            if holder.value + own.hours * 60 <= minute(timezone.now()):
                _change(requester, "disassociate", "from", own, holder.worker, "invalidqualificationstate")


def _grant_to_starters(own: Qualification, requester: Requester) -> None:
    since = timezone.now() - timedelta(hours=own.hours)
    versions = Version.objects.filter(study__recruitment__account=own.account)
    with_game = [v for v in versions if own.game in v.games and v.purpose == Match.Purpose.STUDY]
    starters = Enrolment.objects.filter(
        arrived_at__gt=since, identity__recruiter=KEY, placement__version__in=with_game
    ).exclude(pk__in=own.granted.values("enrolment"))
    for enrolment in starters.select_related("identity").order_by("arrived_at"):
        more = {"IntegerValue": minute(enrolment.arrived_at), "SendNotification": False}
        _change(requester, "associate", "with", own, enrolment.identity.worker, "workerdoesnotexist", **more)
        Granted.objects.get_or_create(qualification=own, enrolment=enrolment)


def _change(
    requester: Requester, verb: str, word: str, own: Qualification, worker: str, harmless: str, **more: int
) -> None:
    """Grant or revoke a qualification; a refusal with the code `harmless` changes nothing."""
    order = {"QualificationTypeId": own.qualification_id, "WorkerId": worker, **more}
    try:
        requester.call(f"{verb}_qualification_{word}_worker", **order)
    except Refused as refusal:
        if refusal.code != harmless:
            raise


def minute(time: datetime) -> int:
    """Return the number of whole minutes since 1970."""
    return int(time.timestamp() // 60)
