"""Tasks created from a study: calculate their cost, publish each once, extend their offer, or take them off the list.

Each action is recorded here before the request to mTurk. If the answer is lost, `find_ordered` later finds out whether
the task exists, and repeating the same order returns the same task.
"""

from __future__ import annotations

import math
import re
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID
from xml.sax.saxutils import escape

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.encoding import iri_to_uri
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from games import registry
from marketplaces import offers
from marketplaces.kinds import MarketplaceError, NotPossible, NotSent, Refused
from marketplaces.models import Account, Offer
from marketplaces.mturk.client import HitNow, Requester, requester_of
from marketplaces.mturk.models import Qualification
from marketplaces.mturk.terms import KEY, Status, Terms
from marketplaces.offers import Price
from plans.pay import PayRule
from recruiters.terms import MTURK_LARGE_FROM, mturk_share
from studies.costs import costs_of_document
from studies.models import Study, Version
from studies.recruiting import places_sentence

PERCENT_APPROVED, NUMBER_APPROVED = "000000000000000000L0", "00000000000000000040"
LOCALE = "00000000000000000071"
"""IDs of mTurk's own qualifications (API reference, "QualificationRequirement")."""
TOKEN_LASTS = timedelta(hours=23)
"""How long a repeated order is certain to return the same task; mTurk says a day."""
CURRENCY, MINUTE, DAY = "USD", 60, 24 * 3600
SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"


def ready(study: Study) -> tuple[Version, PayRule, Account]:
    """Return the launched version, its pay rule, whose base pay is the reward, and the account to publish with.

    Raise NotPossible.
    """
    version, rule, account = offers.ready(study, KEY, statuses=(Study.Status.LAUNCHED, Study.Status.PAUSED))
    if rule.currency != CURRENCY:
        raise NotPossible(
            _("Mechanical Turk pays only in US dollars. Set the study's currency to USD and launch it again.")
        )
    return version, rule, account


def refuse_address(address: str, account: Account) -> None:
    """Raise NotPossible if workers' browsers would not show our page inside mTurk's page."""
    if account.place != Account.Place.REHEARSAL and urlsplit(address).scheme != "https":
        raise NotPossible(
            _("Mechanical Turk shows only pages whose address begins with https://, and this server's does not.")
        )


def price_of(hit: Offer) -> Price:
    balance = requester_of(hit.account).balance()
    version = hit.study.latest_version()
    assert version is not None
    costs = costs_of_document(version.reader, slug=hit.study.slug)
    terms = replace(costs.terms, base_share=mturk_share(hit.places), known=True)
    costs = costs.of(places=hit.places, terms=terms)
    several = _(
        "Mechanical Turk charges 40% of the rewards for tasks with 10 or more assignments, and 20% for tasks with up "
        "to 9. With several small tasks, the study still admits each worker only once."
    )
    return Price(costs.expected, costs, balance, CURRENCY, several if hit.places >= MTURK_LARGE_FROM else "")


def create(study: Study, *, address: str, by: Any, token: UUID, terms: Mapping[str, Any], **task: Any) -> Offer:
    """Keep a draft of a task here; the one with this token is changed if it was not sent yet.

    Args:
        task: the fields of `Offer` that the researcher chose.
        terms: likewise of `Terms`.
    """
    _version, rule, account = ready(study)
    own = {"study": study, "account": account, "reward": rule.base, "currency": CURRENCY, "address": address}
    given = {**task, **own, "terms_stored": Terms(**terms).model_dump(mode="json"), "created_by": by}
    hit, is_new = Offer.objects.get_or_create(reference=str(token), defaults={**given, "status": Status.DRAFT})
    if hit.study_id != study.pk:
        raise PermissionDenied
    if not is_new and hit.status == Status.DRAFT:
        hit.keep(**given)
    return hit


def publish(hit: Offer) -> None:
    """Publish a task on mTurk, and record mTurk's answer.

    Raises:
        NotPossible
        MarketplaceError: after Refused, the task is marked so; otherwise it stays ordered until `find_ordered` knows.
    """
    ready(hit.study)
    if hit.status == Status.REFUSED:
        raise NotPossible(_("{reason} To try again, fill in a new form.").format(reason=hit.problem))
    if hit.status not in (Status.DRAFT, Status.ORDERED):
        return
    if hit.ordered_at is not None and hit.ordered_at < timezone.now() - TOKEN_LASTS:
        raise NotPossible(
            _("This order is too old to send again: a second task could be created. Publish a new task instead.")
        )
    hit.keep(status=Status.ORDERED, ordered_at=hit.ordered_at or timezone.now())
    requester, terms = requester_of(hit.account), hit.terms
    try:
        hit_id = requester.create_hit(
            token=hit.reference,
            QualificationRequirements=requirements(hit, requester),
            Title=hit.name,
            Description=hit.description,
            Keywords=terms.keywords,
            Reward=f"{hit.reward:.2f}",
            MaxAssignments=hit.places,
            LifetimeInSeconds=terms.days * DAY,
            AssignmentDurationInSeconds=terms.minutes * MINUTE,
            AutoApprovalDelayInSeconds=terms.approval_days * DAY,
            Question=external_question(hit.address),
        )
    except MarketplaceError as error:
        is_refused = isinstance(error, Refused) and not isinstance(error, NotSent)
        hit.keep(problem=str(error)[:300], status=Status.REFUSED if is_refused else hit.status)
        raise
    available = {"available": hit.places, "expires_at": timezone.now() + timedelta(days=terms.days)}
    hit.keep(remote_id=hit_id, status=Status.ASSIGNABLE, problem="", terms=available)


def external_question(address: str) -> str:
    """Return the XML of an ExternalQuestion (mTurk's data structure reference), in ASCII whatever the address contains.

    Args:
        address: the address of our page; mTurk appends assignmentId, hitId, workerId and turkSubmitTo.
    """
    return (
        f'<ExternalQuestion xmlns="{SCHEMA}"><ExternalURL>{escape(iri_to_uri(address))}</ExternalURL>'
        "<FrameHeight>0</FrameHeight></ExternalQuestion>"  # fits the frame to the worker's window
    )


def requirements(hit: Offer, requester: Requester) -> list[dict[str, Any]]:
    """Return mTurk's QualificationRequirements for the task; create our own qualification if it does not exist."""
    terms, found = hit.terms, []
    for key, least in ((PERCENT_APPROVED, terms.approved_percent), (NUMBER_APPROVED, terms.approved_number)):
        if least:
            found.append((key, {"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [least]}))
    if terms.countries:
        countries = [{"Country": country} for country in terms.countries]
        found.append((LOCALE, {"Comparator": "In", "LocaleValues": countries}))
    for game in hit.study.games if terms.rest_hours else ():
        own = qualification_of(hit.account, game, terms.rest_hours, requester)
        found.append((own.qualification_id, {"Comparator": "DoesNotExist"}))
    guarded = {"ActionsGuarded": "DiscoverPreviewAndAccept"}
    return [{"QualificationTypeId": key, **requirement, **guarded} for key, requirement in found]


def qualification_of(account: Account, game: str, hours: int, requester: Requester) -> Qualification:
    """Return the qualification of recent players of this game; create it on mTurk if it does not exist."""
    key = {"account": account, "game": game, "hours": hours}
    if (existing := Qualification.objects.filter(**key).first()) is not None:
        return existing
    title = registry.get(game).title
    # Workers read this text, so it is in English like mTurk's own pages.
    qualification_id = requester.qualification(
        f"Parley: played {title} within {hours} hours",
        f"You have played a game of the kind “{title}” within the last {hours} hours. It is removed automatically.",
    )
    return Qualification.objects.get_or_create(**key, defaults={"qualification_id": qualification_id})[0]


def find_ordered(hit: Offer, requester: Requester) -> None:
    """Find out whether a task whose answer was lost exists; if mTurk does not list it after a day, it does not."""
    if hit_id := requester.hit_by_annotation(hit.reference):
        hit.keep(remote_id=hit_id, status=Status.ASSIGNABLE, problem="")
        record_status(hit, requester.hit(hit_id))
    elif hit.ordered_at is not None and hit.ordered_at < timezone.now() - TOKEN_LASTS:
        hit.keep(status=Status.REFUSED, problem=_("Mechanical Turk never received the order."))


def record_status(hit: Offer, current: HitNow) -> None:
    """Record a task's status on mTurk."""
    known_status = {"status": current.status} if current.status in Status else {}
    terms = {name: getattr(current, name) for name in ("expires_at", "pending", "available", "completed")}
    hit.keep(problem="", places=current.assignments, terms=terms, heard_at=timezone.now(), **known_status)


def refresh(hit: Offer) -> None:
    record_status(hit, requester_of(hit.account).hit(str(hit.remote_id)))


def id_of(typed: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9]{1,64}", typed):
        raise NotPossible(_("A task's ID consists of letters and digits."))
    return typed


def adopt(study: Study, account: Account, *, key: str, address: str, by: Any) -> Offer:
    current = requester_of(account).hit(key)
    with transaction.atomic():
        hit = Offer.objects.create(
            study=study, account=account, reference=str(uuid.uuid4()), remote_id=current.hit_id,
            status=Status.ASSIGNABLE, name=current.title[:128], places=current.assignments, reward=current.reward,
            currency=CURRENCY, address=address, created_by=by, ordered_at=timezone.now(),
            terms_stored=Terms(minutes=math.ceil(current.duration / MINUTE)).model_dump(mode="json"),
        )  # fmt: skip
        record_status(hit, current)
    return hit


def set_places(hit: Offer, places: int) -> None:
    """Add assignments to a task up to this number; repeating this adds none."""
    refresh(hit)
    if places > hit.places:
        order = {"HITId": hit.remote_id, "NumberOfAdditionalAssignments": places - hit.places}
        token = uuid.uuid5(UUID(hit.reference), str(places))
        requester_of(hit.account).once("create_additional_assignments_for_hit", token, **order)
        refresh(hit)


def offer_for(hit: Offer, *, hours: float) -> None:
    """Offer a task for this many hours from now; with less than 0, only workers who have accepted it can continue."""
    until = timezone.now() + timedelta(hours=hours)
    requester_of(hit.account).call("update_expiration_for_hit", HITId=str(hit.remote_id), ExpireAt=until)
    refresh(hit)


def delete(hit: Offer) -> None:
    """Delete a finished task on mTurk once all its assignments are decided; our own record stays, marked as deleted."""
    requester_of(hit.account).call("delete_hit", harmless="hitdoesnotexist", HITId=str(hit.remote_id))
    hit.keep(status=Status.DISPOSED, terms={"available": 0, "pending": 0})


# ---- when the study opens, pauses or closes --------------------------------------------------------

_ENDS = (
    gettext_noop("On Mechanical Turk, {number} task ends: no more workers can accept it."),
    gettext_noop("On Mechanical Turk, {number} tasks end: no more workers can accept them."),
)
CHANGES: Mapping[str, tuple[str, str]] = {
    Study.Status.LAUNCHED: (
        gettext_noop("On Mechanical Turk, {number} task is offered again."),
        gettext_noop("On Mechanical Turk, {number} tasks are offered again."),
    ),
    Study.Status.PAUSED: _ENDS,
    Study.Status.CLOSED: _ENDS,
}


def state_of(hits: list[Offer]) -> str:
    if not hits:
        return _("no tasks yet")
    tasks = ngettext("{number} task", "{number} tasks", len(hits)).format(number=len(hits))
    available = places_sentence(sum(hit.terms.available for hit in hits if is_due(hit, Study.Status.PAUSED)))
    return _("{tasks}, {available} available").format(tasks=tasks, available=available)


def is_due(hit: Offer, status: str) -> bool:
    """Return whether the task has to be offered again for an open study, or ended for others."""
    terms = hit.terms
    if not terms.available or terms.expires_at is None:
        return False
    has_ended = terms.expires_at <= timezone.now()
    is_ours = hit.account_id == hit.study.recruitment.account_id
    return has_ended and is_ours if status == Study.Status.LAUNCHED else not has_ended


def change(hit: Offer, status: str) -> None:
    """End the task, or offer it again for as long as at first."""
    offer_for(hit, hours=max(1, 24 * hit.terms.days) if status == Study.Status.LAUNCHED else -1)


def places_of(hit: Offer) -> int:
    return hit.places
