"""Tasks created from a study: calculate their cost, publish each once, extend their offer, or take them off the list.

Each action is recorded here before the request to mTurk. If the answer is lost, `find_ordered` later finds out whether
the task exists, and repeating the same order returns the same task.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Account
from marketplaces.mturk import fees, resting
from marketplaces.mturk.client import HitNow, Requester, requester_of
from marketplaces.mturk.errors import Refused, Unclear
from marketplaces.mturk.models import Hit
from marketplaces.mturk.question import external_question
from marketplaces.offers import pay_of
from matches.models import Match
from recruiters.terms import MTURK_LARGE_FROM
from studies.costs import Costs, costs_of_document
from studies.models import Cell, Placement, Study, Version

NUMBER_APPROVED = "00000000000000000040"
PERCENT_APPROVED = "000000000000000000L0"
LOCALE = "00000000000000000071"
"""IDs of mTurk's own qualifications (API reference, "QualificationRequirement")."""
TOKEN_LASTS = timedelta(hours=23)
"""How long a repeated order is certain to return the same task; mTurk says a day."""
CURRENCY = "USD"


@dataclass(frozen=True)
class TaskRequest:
    """A task that a researcher requests. Times are in seconds; `demands` has the keys of `models.Hit.demands`."""

    title: str
    description: str
    keywords: str
    assignments: int
    lifetime: int
    duration: int
    auto_approval: int
    frame_height: int
    demands: dict[str, Any]


@dataclass(frozen=True)
class Cost:
    """The costs of a task, and the balance that is available for it, in US dollars."""

    costs: Costs
    available: Decimal

    @property
    def missing(self) -> Decimal:
        return max(Decimal(0), self.costs.expected - self.available)


def launched_version(study: Study) -> Version:
    """Return the launched version, which participants see.

    Raises:
        NotPossible: there is none, or it cannot be offered on mTurk.
    """
    version = study.latest_version()
    if version is None or study.status == Study.Status.CLOSED:
        raise NotPossible(_("First launch the study, so that workers can enter it."))
    if version.purpose != Match.Purpose.STUDY:
        raise NotPossible(
            _(
                "The launched version is a trial, in which nobody is paid. Change the study's purpose and launch it "
                "again."
            )
        )
    pay = pay_of(version)
    if pay.currency != CURRENCY:
        raise NotPossible(
            _("Mechanical Turk pays only in US dollars. Set the study's currency to USD and launch it again.")
        )
    if pay.base <= 0:
        raise NotPossible(
            _(
                "A task's reward is the study's base pay, but this study has none. Set a base pay and launch the study "
                "again."
            )
        )
    return version


def reward_of(version: Version) -> Decimal:
    """Return the reward of a task: the base pay of the launched version."""
    return version.plan.pay.base


def open_places(version: Version) -> int:
    """Return the number of free places in the launched version."""
    cells = Cell.objects.filter(version=version).annotate(
        held=Count("placements", filter=Q(placements__released_at=None))
    )
    before_draw = Placement.objects.filter(version=version, cell=None, released_at=None).count()
    return max(0, sum(max(0, cell.places - cell.held) for cell in cells) - before_draw)


def available_assignments(study: Study) -> int:
    """Return the number of assignments of the study's tasks that are still available."""
    hits = Hit.objects.filter(study=study).exclude(state__in=[Hit.State.REFUSED, Hit.State.DISPOSED])
    return int(hits.aggregate(free=Sum("available"))["free"] or 0)


def refuse_address(address: str, account: Account) -> None:
    """Raise NotPossible if workers' browsers would not show our page inside mTurk's page."""
    if account.place != Account.Place.REHEARSAL and urlsplit(address).scheme != "https":
        raise NotPossible(
            _("Mechanical Turk shows only pages whose address begins with https://, and this server's does not.")
        )


def cost_of(version: Version, *, assignments: int, available: Decimal) -> Cost:
    """Return the total cost of a number of assignments."""
    costs = costs_of_document(version.reader, slug=version.study.slug)
    terms = replace(costs.terms, base_share=fees.reward_share(assignments), known=True)
    return Cost(costs.of(places=assignments, terms=terms), available)


def cost_per_assignment(hit: Hit) -> Decimal:
    """Return the cost of one approved assignment, including the fee."""
    return hit.reward + fees.reward_fee(hit.reward, assignments=hit.assignments)


def order(*, study: Study, account: Account, token: UUID, task_request: TaskRequest, by: Any) -> tuple[Hit, bool]:
    """Record an order for a task, or find the one with this token; return the task and whether it is new."""
    version = launched_version(study)
    return Hit.objects.get_or_create(
        token=token,
        defaults={
            "study": study,
            "account": account,
            "title": task_request.title,
            "description": task_request.description,
            "keywords": task_request.keywords,
            "reward": reward_of(version),
            "assignments": task_request.assignments,
            "lifetime": task_request.lifetime,
            "duration": task_request.duration,
            "auto_approval": task_request.auto_approval,
            "frame_height": task_request.frame_height,
            "demands": task_request.demands,
            "created_by": by,
        },
    )


def publish(hit: Hit, *, address: str) -> Hit:
    """Publish an ordered task on mTurk, and record mTurk's answer.

    Raises:
        MarketplaceError: Refused (the task is marked so) or Unclear (it stays ordered until `find_ordered` knows).
    """
    if hit.state == Hit.State.REFUSED:
        raise MarketplaceError(_("{reason} To try again, fill in a new form.").format(reason=hit.problem))
    if hit.state != Hit.State.ORDERED:
        return hit
    if hit.created_at < timezone.now() - TOKEN_LASTS:
        raise MarketplaceError(
            _(
                "This order is too old to send again: Mechanical Turk could create a second task. Publish a new task "
                "instead."
            )
        )
    requester = requester_of(hit.account)
    try:
        hit_id = requester.create_hit(
            token=hit.token,
            title=hit.title,
            description=hit.description,
            keywords=hit.keywords,
            reward=hit.reward,
            assignments=hit.assignments,
            lifetime=hit.lifetime,
            duration=hit.duration,
            auto_approval=hit.auto_approval,
            question=external_question(address, frame_height=hit.frame_height),
            qualifications=requirements(hit, requester),
        )
    except Refused as refusal:
        _save(hit, state=Hit.State.REFUSED, problem=str(refusal)[:300])
        raise
    except Unclear as error:
        _save(hit, problem=str(error)[:300])
        raise
    _save(
        hit,
        hit_id=hit_id,
        state=Hit.State.ASSIGNABLE,
        problem="",
        available=hit.assignments,
        expires_at=timezone.now() + timedelta(seconds=hit.lifetime),
    )
    return hit


def requirements(hit: Hit, requester: Requester) -> list[dict[str, Any]]:
    """Return mTurk's QualificationRequirements for the task; create our own qualification if it does not exist."""
    guarded_actions = {"ActionsGuarded": "DiscoverPreviewAndAccept"}
    qualifications: list[dict[str, Any]] = []
    demands = hit.demands
    for key, name in ((PERCENT_APPROVED, "approved_percent"), (NUMBER_APPROVED, "approved_number")):
        if demands.get(name):
            at_least = {"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [demands[name]]}
            qualifications.append({"QualificationTypeId": key, **at_least, **guarded_actions})
    if demands.get("countries"):
        allowed_countries = {
            "Comparator": "In",
            "LocaleValues": [{"Country": country} for country in demands["countries"]],
        }
        qualifications.append({"QualificationTypeId": LOCALE, **allowed_countries, **guarded_actions})
    for game in hit.study.games if demands.get("rest_hours") else ():
        rest_qualification = resting.qualification_of(hit.account, game, demands["rest_hours"], requester)
        qualifications.append(
            {
                "QualificationTypeId": rest_qualification.qualification_id,
                "Comparator": "DoesNotExist",
                **guarded_actions,
            }
        )
    return qualifications


def find_ordered(hit: Hit, requester: Requester) -> None:
    """Find out whether a task whose answer was lost exists; if mTurk does not list it after a day, it does not."""
    if hit_id := requester.hit_by_annotation(str(hit.token)):
        _save(hit, hit_id=hit_id, state=Hit.State.ASSIGNABLE, problem="")
        record_status(hit, requester.hit(hit_id))
    elif hit.created_at < timezone.now() - TOKEN_LASTS:
        _save(hit, state=Hit.State.REFUSED, problem=_("Mechanical Turk never received the order."))


def record_status(hit: Hit, current: HitNow) -> None:
    """Record a task's status on mTurk."""
    known_state = {"state": current.status} if current.status in Hit.State.values else {}
    _save(
        hit,
        **known_state,
        assignments=current.assignments,
        expires_at=current.expires_at,
        duration=current.duration,
        pending=current.pending,
        available=current.available,
        completed=current.completed,
        problem="",
    )


def adopt(*, study: Study, account: Account, hit_id: str, by: Any) -> Hit:
    """Add a task created elsewhere to the study, so that its workers can be paid here.

    Raises:
        MarketplaceError, NotPossible
    """
    if existing := Hit.objects.filter(hit_id=hit_id).first():
        if existing.study_id == study.pk:
            return existing
        raise NotPossible(_("This task belongs to another study."))
    current = requester_of(account).hit(hit_id)
    with transaction.atomic():
        hit = Hit.objects.create(
            study=study,
            account=account,
            hit_id=hit_id,
            title=current.title[:128],
            reward=current.reward,
            assignments=current.assignments,
            lifetime=0,
            duration=current.duration,
            auto_approval=0,
            created_by=by,
        )
        record_status(hit, current)
    return hit


def extend(hit: Hit, *, number: int, token: UUID) -> None:
    """Add assignments to a task, so that more people can do it.

    Raises:
        MarketplaceError, NotPossible
    """
    if hit.hit_id is None:
        raise NotPossible(_("Mechanical Turk has not confirmed this task yet."))
    if hit.assignments < MTURK_LARGE_FROM <= hit.assignments + number:
        raise NotPossible(str(Refused("InvalidMaximumAssignmentsIncrease")))
    requester = requester_of(hit.account)
    requester.add_assignments(hit.hit_id, number, token=token)
    record_status(hit, requester.hit(hit.hit_id))


def expire(hit: Hit) -> None:
    """Stop offering a task; workers who have accepted it can continue.

    Raises:
        MarketplaceError
    """
    requester = requester_of(hit.account)
    requester.expire(str(hit.hit_id), timezone.now() - timedelta(minutes=1))
    record_status(hit, requester.hit(str(hit.hit_id)))


def prolong(hit: Hit, *, hours: int) -> None:
    """Offer a task for this many hours from now on.

    Raises:
        MarketplaceError
    """
    requester = requester_of(hit.account)
    requester.expire(str(hit.hit_id), timezone.now() + timedelta(hours=hours))
    record_status(hit, requester.hit(str(hit.hit_id)))


def delete(hit: Hit) -> None:
    """Delete a finished task on mTurk once all its assignments are decided; our own record stays, marked as deleted.

    Raises:
        MarketplaceError
    """
    try:
        requester_of(hit.account).delete(str(hit.hit_id))
    except Refused as refusal:
        if refusal.code != "hitdoesnotexist":
            raise
    _save(hit, state=Hit.State.DISPOSED, available=0, pending=0)


def _save(hit: Hit, **values: Any) -> None:
    """Save these values alone, so that other processes' changes to other fields are kept."""
    for name, value in values.items():
        setattr(hit, name, value)
    hit.save(update_fields=list(values))
