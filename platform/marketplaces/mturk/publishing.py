"""Tasks created from a study: calculate their cost, publish each once, extend their offer, or take them off the list.

Each action is recorded here before the request to mTurk. If the answer is lost, `find_ordered` later finds out whether
the task exists, and repeating the same order returns the same task.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import UUID
from xml.sax.saxutils import escape

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from games import registry
from games.errors import UnknownGame
from marketplaces import offers
from marketplaces.kinds import MarketplaceError, NotPossible, NotSent, Refused
from marketplaces.models import Account, Recruitment
from marketplaces.mturk import fees
from marketplaces.mturk.client import HitNow, Requester, refusal_for, requester_of
from marketplaces.mturk.models import KEY, Hit, Qualification
from marketplaces.offers import Price
from recruiters.terms import MTURK_LARGE_FROM
from studies.costs import costs_of_document
from studies.models import Study, Version
from studies.recruiting import places_sentence

PERCENT_APPROVED, NUMBER_APPROVED = "000000000000000000L0", "00000000000000000040"
LOCALE = "00000000000000000071"
"""IDs of mTurk's own qualifications (API reference, "QualificationRequirement")."""
TOKEN_LASTS = timedelta(hours=23)
"""How long a repeated order is certain to return the same task; mTurk says a day."""
CURRENCY = "USD"
SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
_SAFE = "/%:@!$&'()*+,;=~-._"


def ready(study: Study) -> tuple[Version, Account]:
    """Return the launched version, whose base pay is the reward, and the account to publish with.

    Raises:
        NotPossible
    """
    version, rule, account = offers.ready(study, KEY, statuses=(Study.Status.LAUNCHED, Study.Status.PAUSED))
    if rule.currency != CURRENCY:
        raise NotPossible(
            _("Mechanical Turk pays only in US dollars. Set the study's currency to USD and launch it again.")
        )
    return version, account


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


def price_of(version: Version, account: Account, *, assignments: int) -> Price:
    """Return what this many assignments cost. Raise MarketplaceError."""
    balance = requester_of(account).balance()
    costs = costs_of_document(version.reader, slug=version.study.slug)
    terms = replace(costs.terms, base_share=fees.reward_share(assignments), known=True)
    costs = costs.of(places=assignments, terms=terms)
    return Price(costs.expected, costs, balance, CURRENCY)


def order(*, study: Study, token: UUID, by: Any, **task: Any) -> tuple[Hit, bool]:
    """Record an order for a task, or find the one with this token; return the task and whether it is new.

    Args:
        task: the fields of `Hit` that the researcher chose.
    """
    version, account = ready(study)
    reward = version.plan.pay.base
    defaults = {"study": study, "account": account, "reward": reward, "created_by": by, **task}
    return Hit.objects.get_or_create(token=token, defaults=defaults)


def publish(hit: Hit, *, address: str) -> Hit:
    """Publish an ordered task on mTurk, and record mTurk's answer.

    Raises:
        MarketplaceError: after Refused, the task is marked so; otherwise it stays ordered until `find_ordered` knows.
    """
    if hit.state == Hit.State.REFUSED:
        raise MarketplaceError(_("{reason} To try again, fill in a new form.").format(reason=hit.problem))
    if hit.state != Hit.State.ORDERED:
        return hit
    if hit.created_at < timezone.now() - TOKEN_LASTS:
        raise MarketplaceError(
            _("This order is too old to send again: a second task could be created. Publish a new task instead.")
        )
    requester = requester_of(hit.account)
    try:
        hit_id = requester.create_hit(
            token=hit.token,
            QualificationRequirements=requirements(hit, requester),
            Title=hit.title,
            Description=hit.description,
            Keywords=hit.keywords,
            Reward=f"{hit.reward:.2f}",
            MaxAssignments=hit.assignments,
            LifetimeInSeconds=hit.lifetime,
            AssignmentDurationInSeconds=hit.duration,
            AutoApprovalDelayInSeconds=hit.auto_approval,
            Question=external_question(address, frame_height=hit.frame_height),
        )
    except MarketplaceError as error:
        is_refused = isinstance(error, Refused) and not isinstance(error, NotSent)
        save(hit, problem=str(error)[:300], **({"state": Hit.State.REFUSED} if is_refused else {}))
        raise
    expires_at = timezone.now() + timedelta(seconds=hit.lifetime)
    available = {"available": hit.assignments, "expires_at": expires_at}
    save(hit, hit_id=hit_id, state=Hit.State.ASSIGNABLE, problem="", **available)
    return hit


def external_question(address: str, *, frame_height: int = 0) -> str:
    """Return the XML of an ExternalQuestion (mTurk's data structure reference), in ASCII whatever the address contains.

    Args:
        address: the address of our page; mTurk appends assignmentId, hitId, workerId and turkSubmitTo.
        frame_height: in pixels; 0 fits the frame to the worker's window.
    """
    url = urlsplit(address)
    host = url.netloc if url.netloc.isascii() else url.netloc.encode("idna").decode()
    path, query = quote(url.path, safe=_SAFE), quote(url.query, safe=_SAFE + "?")
    ascii_address = url._replace(netloc=host, path=path, query=query, fragment="").geturl()
    return (
        f'<ExternalQuestion xmlns="{SCHEMA}"><ExternalURL>{escape(ascii_address)}</ExternalURL>'
        f"<FrameHeight>{frame_height:d}</FrameHeight></ExternalQuestion>"
    )


def requirements(hit: Hit, requester: Requester) -> list[dict[str, Any]]:
    """Return mTurk's QualificationRequirements for the task; create our own qualification if it does not exist."""
    demands, found = hit.demands, []
    for key, name in ((PERCENT_APPROVED, "approved_percent"), (NUMBER_APPROVED, "approved_number")):
        if demands.get(name):
            found.append((key, {"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [demands[name]]}))
    if demands.get("countries"):
        countries = [{"Country": country} for country in demands["countries"]]
        found.append((LOCALE, {"Comparator": "In", "LocaleValues": countries}))
    for game in hit.study.games if demands.get("rest_hours") else ():
        own = qualification_of(hit.account, game, demands["rest_hours"], requester)
        found.append((own.qualification_id, {"Comparator": "DoesNotExist"}))
    guarded = {"ActionsGuarded": "DiscoverPreviewAndAccept"}
    return [{"QualificationTypeId": key, **requirement, **guarded} for key, requirement in found]


def qualification_of(account: Account, game: str, hours: int, requester: Requester) -> Qualification:
    """Return the qualification of recent players of this game; create it on mTurk if it does not exist.

    Raises:
        MarketplaceError
    """
    key = {"account": account, "game": game, "hours": hours}
    if (existing := Qualification.objects.filter(**key).first()) is not None:
        return existing
    try:
        title = registry.get(game).title
    except UnknownGame:
        title = game
    # Workers read this text, so it is in English like mTurk's own pages.
    qualification_id = requester.qualification(
        f"Parley: played {title} within {hours} hours",
        f"You have played a game of the kind “{title}” within the last {hours} hours. It is removed automatically.",
    )
    return Qualification.objects.get_or_create(**key, defaults={"qualification_id": qualification_id})[0]


def find_ordered(hit: Hit, requester: Requester) -> None:
    """Find out whether a task whose answer was lost exists; if mTurk does not list it after a day, it does not."""
    if hit_id := requester.hit_by_annotation(str(hit.token)):
        save(hit, hit_id=hit_id, state=Hit.State.ASSIGNABLE, problem="")
        record_status(hit, requester.hit(hit_id))
    elif hit.created_at < timezone.now() - TOKEN_LASTS:
        save(hit, state=Hit.State.REFUSED, problem=_("Mechanical Turk never received the order."))


def record_status(hit: Hit, current: HitNow) -> None:
    """Record a task's status on mTurk."""
    known_state = {"state": current.status} if current.status in Hit.State.values else {}
    names = ("assignments", "expires_at", "duration", "pending", "available", "completed")
    save(hit, problem="", **known_state, **{name: getattr(current, name) for name in names})


def adopt(study: Study, account: Account, *, key: str, address: str, by: Any) -> Hit:
    """Add a task created elsewhere to the study, so that its workers can be paid here.

    Raises:
        MarketplaceError, NotPossible
    """
    if existing := Hit.objects.filter(hit_id=key).first():
        if existing.study_id == study.pk:
            return existing
        raise NotPossible(_("This task belongs to another study."))
    current = requester_of(account).hit(key)
    copied = {name: getattr(current, name) for name in ("hit_id", "reward", "assignments", "duration")}
    with transaction.atomic():
        hit = Hit(study=study, account=account, title=current.title[:128], created_by=by, **copied)
        hit.lifetime = hit.auto_approval = 0
        hit.save()
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
        raise NotPossible(str(refusal_for("InvalidMaximumAssignmentsIncrease")))
    requester = requester_of(hit.account)
    order = {"HITId": hit.hit_id, "NumberOfAdditionalAssignments": number}
    requester.once("create_additional_assignments_for_hit", token, **order)
    record_status(hit, requester.hit(hit.hit_id))


def offer_for(hit: Hit, *, hours: float) -> None:
    """Offer a task for this many hours from now on; with less than 0, only workers who have accepted it can continue.

    Raises:
        MarketplaceError
    """
    requester = requester_of(hit.account)
    until = timezone.now() + timedelta(hours=hours)
    requester.call("update_expiration_for_hit", HITId=str(hit.hit_id), ExpireAt=until)
    record_status(hit, requester.hit(str(hit.hit_id)))


def delete(hit: Hit) -> None:
    """Delete a finished task on mTurk once all its assignments are decided; our own record stays, marked as deleted.

    Raises:
        MarketplaceError
    """
    requester_of(hit.account).call("delete_hit", harmless="hitdoesnotexist", HITId=str(hit.hit_id))
    save(hit, state=Hit.State.DISPOSED, available=0, pending=0)


def save(hit: Hit, **values: Any) -> None:
    """Save these values alone, so that other processes' changes to other fields are kept."""
    for name, value in values.items():
        setattr(hit, name, value)
    hit.save(update_fields=list(values))


# ---- when the study opens, pauses or closes --------------------------------------------------------

GONE = (Hit.State.ORDERED, Hit.State.REFUSED, Hit.State.DISPOSED)
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


def offered(recruitment: Recruitment) -> list[Hit]:
    hits = Hit.objects.filter(study=recruitment.study).exclude(state__in=GONE)
    return list(hits.select_related("account", "study__recruitment"))


def state_of(hits: list[Hit]) -> str:
    if not hits:
        return _("no tasks yet")
    tasks = ngettext("{number} task", "{number} tasks", len(hits)).format(number=len(hits))
    available = places_sentence(sum(hit.available for hit in hits if is_due(hit, Study.Status.PAUSED)))
    return _("{tasks}, {available} available").format(tasks=tasks, available=available)


def is_due(hit: Hit, status: str) -> bool:
    """Return whether the task has to be offered again for an open study, or ended for others."""
    if not hit.available or hit.expires_at is None:
        return False
    has_ended = hit.expires_at <= timezone.now()
    is_ours = hit.account_id == hit.study.recruitment.account_id
    return has_ended and is_ours if status == Study.Status.LAUNCHED else not has_ended


def change(hit: Hit, status: str) -> None:
    """End the task, or offer it again for as long as at first."""
    offer_for(hit, hours=max(1, hit.lifetime // 3600) if status == Study.Status.LAUNCHED else -1)


def places_of(hit: Hit) -> int:
    return hit.assignments


def add_places(hit: Hit, number: int) -> None:
    extend(hit, number=number, token=uuid.uuid4())
