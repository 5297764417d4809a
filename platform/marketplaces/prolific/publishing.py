"""Offer a study on Prolific: create a draft, publish, pause, resume and stop it, and add places.

Two requests to create a study create two studies. The internal name is therefore stored here first. If the response is
lost, Parley looks for a study with that name before it creates another.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from marketplaces import offers
from marketplaces.kinds import MarketplaceError, NotPossible, NotThere, Refused, Unclear
from marketplaces.models import Account, Recruitment
from marketplaces.offers import Price, listing_of, pay_of
from marketplaces.prolific import codes
from marketplaces.prolific.client import (
    Client,
    client_of,
    hundredths,
    normalised_status,
    raise_invalid_response,
    text_of,
    units,
)
from marketplaces.prolific.models import KIND, Publication
from plans.pay import PayRule
from recruiters.terms import Stated, with_share
from studies.costs import shown_costs
from studies.models import Study, Version
from studies.recruiting import places_sentence

NAMES = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
PARAMETERS = "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
TREATMENT = "t"
"""The URL parameter that selects a treatment; its values cannot be guessed, since no signature covers them."""
CREATION_TIME = timedelta(minutes=1)
"""Time after which a draft is surely no longer being created: longer than the wait for Prolific's responses."""
TIME_LIMIT_FACTOR = 2
"""Prolific's time limit for a submission as a multiple of the estimated minutes, if the study's own is not longer."""
LONGEST_ID, MOST_PLACES, HIGHEST_FEE_RATE = 40, 10**6, 99
"""Upper limits for values in Prolific's responses; anything beyond them is invalid."""


def refuse_unready(study: Study) -> tuple[Version, PayRule, Account]:
    """Return the version, its pay rule and the account to publish with. Raise NotPossible."""
    return offers.ready(study, KIND, statuses=(Study.Status.LAUNCHED,))


def create_draft(
    study: Study,
    *,
    address: str,
    project: str = "",
    screen_out: Decimal | None = None,
    parts: bool = False,
    by_treatment: bool = False,
    **offer: Any,
) -> Publication:
    """Create the study on Prolific, as a draft that nobody sees yet.

    Args:
        address: of the study's entry page, as participants' browsers reach it.
        screen_out: what Prolific itself pays screened-out participants; None if nothing.
        parts: whether partial payments are allowed.
        by_treatment: whether each cell has its own address on Prolific.
        offer: the other fields of `Publication` that the researcher chose.

    Raises:
        NotPossible
        MarketplaceError: the publication is kept as uncertain if it may have been created; `find_created` looks for it.
    """
    version, rule, account = refuse_unready(study)
    _refuse_screen_out(screen_out, rule)
    client = client_of(account)
    workspace, currency = workspace_of(client, project)
    if currency != rule.currency:
        raise NotPossible(
            _(
                "The study pays in {ours}, but the account's workspace pays in {theirs}. The currencies must be the "
                "same."
            ).format(ours=rule.currency, theirs=currency)
        )
    publication = Publication(
        study=study,
        account=account,
        internal_name=f"parley-{study.slug}-{secrets.token_hex(4)}",
        project=project,
        workspace=workspace,
        reward=rule.base,
        currency=rule.currency,
        address=address,
        codes=codes.new_codes(parts=parts),
        screen_out_reward=screen_out,
        pays_parts=parts,
        **offer,
    )
    if by_treatment:
        cells = list(version.cells.order_by("number"))
        publication.places = sum(cell.places for cell in cells)
        publication.treatments = {secrets.token_urlsafe(9): cell.number for cell in cells}
    _keep(publication)
    try:
        store_study(publication, client.study(method="POST", fields=fields_of(publication, version)))
    except Unclear:
        Publication.objects.filter(pk=publication.pk).update(status=Publication.Status.UNCERTAIN)
        raise
    except MarketplaceError as error:
        publication.delete()
        if isinstance(error, Refused) and (screen_out is not None or parts) and "completion_codes" in error.reason:
            message = _(
                "Prolific did not accept the screen-out payment or partial payments; the workspace may not support "
                "them. {why}"
            )
            raise NotPossible(message.format(why=error)) from None
        raise
    return publication


def _keep(publication: Publication, *, prolific_id: str = "") -> None:
    """Save a new publication. Raise NotPossible if this study is on Prolific already, or that one linked here."""
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=publication.study_id)
        if Publication.objects.filter(study=publication.study).exists():
            raise NotPossible(_("The study is already on Prolific."))
        if prolific_id and Publication.objects.filter(prolific_id=prolific_id).exists():
            raise NotPossible(_("This study on Prolific is already linked to another study here."))
        publication.save()


def workspace_of(client: Client, project: str) -> tuple[str, str]:
    """Return the workspace that pays and its currency.

    Raises:
        NotPossible, MarketplaceError
    """
    workspaces = list(client.rows("/workspaces/"))
    if not workspaces:
        raise NotPossible(_("The account belongs to no workspace. First create a workspace on Prolific."))
    workspace = (
        text_of(client.ask("GET", f"/projects/{project}/"), "workspace") if project else text_of(workspaces[0], "id")
    )
    return workspace, client.balance(workspace)[1]


def fields_of(publication: Publication, version: Version) -> dict[str, Any]:
    """Return the study's fields as sent to Prolific."""
    fields: dict[str, Any] = {
        "name": publication.name,
        "internal_name": publication.internal_name,
        "description": publication.description,
        "external_study_url": f"{publication.address}{PARAMETERS}",
        "is_external_study_url_secure": publication.requires_signature,
        "prolific_id_option": "url_parameters",
        "completion_codes": codes.for_prolific(
            publication.codes, pay_of(version), screen_out=publication.screen_out_reward, slots=publication.places
        ),
        "total_available_places": publication.places,
        "estimated_completion_time": publication.minutes,
        "maximum_allowed_time": max(version.plan.minutes, TIME_LIMIT_FACTOR * publication.minutes),
        "reward": hundredths(publication.reward),
        "device_compatibility": publication.devices,
        "submissions_config": {"max_submissions_per_participant": 1},
    }
    if publication.treatments:
        fields["access_details"] = _addresses(publication, version)
    if publication.filters:
        fields["filters"] = publication.filters
    return {**fields, "project": publication.project} if publication.project else fields


def _addresses(publication: Publication, version: Version) -> list[dict[str, Any]]:
    """Return the addresses for Prolific's Taskflow, one for each treatment, each with its number of participants."""
    places = {cell.number: cell.places for cell in version.cells.all()}
    return [
        {"external_url": f"{publication.address}{PARAMETERS}&{TREATMENT}={key}", "total_allocation": places[number]}
        for key, number in publication.treatments.items()
    ]


def _refuse_screen_out(reward: Decimal | None, rule: PayRule) -> None:
    """Refuse a screen-out payment that would be paid twice, or that Prolific does not accept."""
    if reward is None:
        return
    if codes.pays_screened_out(rule):
        raise NotPossible(
            _("The study itself already pays screened-out participants. Choose either the study or Prolific, not both.")
        )
    if reward >= rule.base:
        raise NotPossible(_("The screen-out payment must be less than the reward."))


def find_created(publication: Publication) -> bool:
    """Look for the study whose creation was never confirmed; if there is none, delete the record so that it can be
    created.

    Return whether it was found.

    Raises:
        NotPossible: the study is being created at the moment.
        MarketplaceError: the outcome is still unknown.
    """
    being_made = publication.status == Publication.Status.MAKING
    if being_made and publication.made_at > timezone.now() - CREATION_TIME:
        raise NotPossible(_("The draft is being created. Please check again in a minute."))
    client = client_of(publication.account)
    names = (
        text_of(row, "id") for row in client.rows("/studies/") if row.get("internal_name") == publication.internal_name
    )
    if (found := next(names, "")) == "":
        Publication.objects.filter(pk=publication.pk, prolific_id="").delete()
        return False
    store_study(publication, client.study(found))
    return True


def store_study(publication: Publication, data: Mapping[str, Any]) -> None:
    """Store what Prolific reports about the study."""
    status, prolific_id = normalised_status(data["status"]), text_of(data, "id")
    if len(prolific_id) > LONGEST_ID or publication.prolific_id not in ("", prolific_id):
        raise_invalid_response()
    publication.prolific_id = prolific_id
    publication.status = status if status in Publication.Status.values else publication.status
    publication.said_at = timezone.now()
    if isinstance(places := data.get("total_available_places"), int | float) and 1 <= places < MOST_PLACES:
        publication.places = int(places)
    if isinstance(project := data.get("project"), str):
        publication.project = project[:40]
    publication.fee_rate = _fee_rate(publication, data)
    publication.save(update_fields=["prolific_id", "status", "said_at", "places", "project", "fee_rate"])


def _fee_rate(publication: Publication, data: Mapping[str, Any]) -> Decimal:
    """Return fees and taxes per unit of reward, from the total cost; the previous rate if Prolific reports no cost."""
    rewards = publication.reward * publication.places
    if not isinstance(data.get("total_cost"), int | float) or rewards <= 0:
        return publication.fee_rate
    rate = max(Decimal(0), units(data["total_cost"]) / rewards - 1)
    if rate > HIGHEST_FEE_RATE:
        raise_invalid_response()
    return rate.quantize(Decimal("0.0001"))


def price_of(publication: Publication) -> Price:
    """Return what publishing costs, and the balance; nothing is stored. Raise MarketplaceError."""
    client = client_of(publication.account)
    data = client.study(publication.prolific_id)
    fee_rate = _fee_rate(publication, data)
    if isinstance(data.get("total_cost"), int | float):
        total = units(data["total_cost"])
    else:
        fields = {"reward": hundredths(publication.reward), "total_available_places": publication.places}
        total = units(client.ask("POST", "/study-cost-calculator/", fields).get("total_cost"))
    balance, currency = client.balance(publication.workspace)
    costs = shown_costs(publication.study)
    if costs is not None:
        costs = costs.of(places=publication.places, terms=with_share(costs.terms, fee_rate))
    return Price(total=total, costs=costs, balance=balance, currency=currency)


def stated(study: str) -> Stated | None:
    """Return what Prolific states about the study with this short name; None if it is not there."""
    publication = Publication.objects.filter(study__slug=study).only("fee_rate", "minutes").first()
    return None if publication is None else Stated(publication.fee_rate or None, publication.minutes)


def refuse_other_account(publication: Publication) -> None:
    """Raise NotPossible if the account that would pay is not the one that the study recruits through now."""
    if publication.study.recruitment.account_id != publication.account_id:
        raise NotPossible(
            _("The study now recruits through a different account from the one that created it on Prolific.")
        )


def publish(publication: Publication) -> None:
    """Publish the study, so that participants see it.

    Raises:
        NotPossible
        MarketplaceError: if the response was lost, `refresh` shows the outcome.
    """
    refuse_unready(publication.study)
    refuse_other_account(publication)
    _change_status(publication, "PUBLISH")


_STATUSES_AFTER = {
    "PUBLISH": (Publication.Status.ACTIVE, Publication.Status.PUBLISHING, Publication.Status.SCHEDULED),
    "PAUSE": (Publication.Status.PAUSED,),
    "START": (Publication.Status.ACTIVE,),
    "STOP": (Publication.Status.AWAITING_REVIEW, Publication.Status.COMPLETED),
}


def _change_status(publication: Publication, action: str) -> None:
    """Request the action; if Prolific refuses or the response is lost, the status that it then reports decides.

    Raises:
        MarketplaceError
    """
    client = client_of(publication.account)
    try:
        store_study(
            publication, client.study(publication.prolific_id, "transition", method="POST", fields={"action": action})
        )
    except (Unclear, Refused):
        store_study(publication, client.study(publication.prolific_id))
        if publication.status not in _STATUSES_AFTER[action]:
            raise


pause = partial(_change_status, action="PAUSE")
"""Admit no new participants."""
resume = partial(_change_status, action="START")
"""Admit new participants again."""
stop = partial(_change_status, action="STOP")
"""End recruitment for good."""


def refresh(publication: Publication) -> None:
    """Fetch the study's current status. Raise MarketplaceError."""
    store_study(publication, client_of(publication.account).study(publication.prolific_id))


def set_places(publication: Publication, places: int) -> None:
    """Set the total number of places offered; repeating this changes nothing.

    Raises:
        NotPossible, MarketplaceError
    """
    if publication.treatments:
        raise NotPossible(_("Each treatment has its own places. Change them on Prolific."))
    if places <= publication.places:
        raise NotPossible(
            _("The study has {places} places. On Prolific, you can only add places.").format(places=publication.places)
        )
    client = client_of(publication.account)
    store_study(
        publication, client.study(publication.prolific_id, method="PATCH", fields={"total_available_places": places})
    )


def forget(publication: Publication) -> None:
    """Delete our record of a draft that was deleted on Prolific, so that another can be created.

    Raises:
        NotPossible: the draft still exists.
        MarketplaceError
    """
    try:
        refresh(publication)
    except NotThere:
        if not publication.study.submissions.exists():
            publication.delete()
            return
        raise NotPossible(_("Participants have already arrived through this study, so it is kept.")) from None
    raise NotPossible(_("The draft is still on Prolific. First delete it there."))


# ---- when the study opens, pauses or closes --------------------------------------------------------

STATUS = Publication.Status
_RECRUITING = (STATUS.ACTIVE, STATUS.PUBLISHING, STATUS.SCHEDULED)
_DUE_FROM: Mapping[str, tuple[str, ...]] = {
    Study.Status.LAUNCHED: (STATUS.PAUSED,),
    Study.Status.PAUSED: _RECRUITING,
    Study.Status.CLOSED: (*_RECRUITING, STATUS.PAUSED),
}
CHANGES: Mapping[str, tuple[str, str]] = {
    status: (sentence, sentence)
    for status, sentence in (
        (
            Study.Status.LAUNCHED,
            gettext_noop("On Prolific, the study is resumed: new participants can start there again."),
        ),
        (Study.Status.PAUSED, gettext_noop("On Prolific, the study is paused: no new participants can start there.")),
        (
            Study.Status.CLOSED,
            gettext_noop("On Prolific, the study is stopped for good: no new participants can start there."),
        ),
    )
}


def offered(recruitment: Recruitment) -> list[Publication]:
    """Return the study's publication, if Prolific has it."""
    return list(Publication.objects.filter(study=recruitment.study).exclude(prolific_id=""))


def state_of(publications: list[Publication]) -> str:
    if not publications:
        return _("not there yet")
    return f"{publications[0].get_status_display()}, {places_sentence(publications[0].places)}"


def is_due(publication: Publication, status: str) -> bool:
    return publication.status in _DUE_FROM.get(status, ())


def change(publication: Publication, status: str) -> None:
    """Pause, stop or resume the study there; its own account pays what is then spent."""
    if status == Study.Status.LAUNCHED:
        refuse_other_account(publication)
    acts = {Study.Status.PAUSED: pause, Study.Status.CLOSED: stop, Study.Status.LAUNCHED: resume}
    acts[Study.Status(status)](publication)


def places_of(publication: Publication) -> int:
    """Return its places; 0 before publishing, and if each treatment has its own places."""
    return publication.places if publication.was_published and not publication.treatments else 0


def add_places(publication: Publication, number: int) -> None:
    set_places(publication, publication.places + number)


# ---- studies created on Prolific itself ------------------------------------------------------------


class UnsuitableSettings(NotPossible):
    """The study on Prolific has unsuitable settings; `changes` says what to change there."""

    def __init__(self, changes: list[str]) -> None:
        super().__init__(" ".join((_("Please change this on Prolific:"), *changes)))
        self.changes = changes


def adopt(study: Study, account: Account, *, key: str, address: str, by: Any = None) -> Publication:
    """Link the study to the one on Prolific that has this identifier (`kinds.Recruiting.adopt`).

    Raises:
        NotPossible: this study is already on Prolific, or that one belongs to another study.
        UnsuitableSettings
        MarketplaceError
    """
    version, rule, _account = refuse_unready(study)
    client = client_of(account)
    data = client.study(key.lower())
    project = data["project"] if isinstance(data.get("project"), str) else ""
    workspace, currency = workspace_of(client, project)
    completion_codes, code_problems = codes.of_prolific(data.get("completion_codes"), rule)
    if problems := [*_problems(data, rule, address=address, currency=currency), *code_problems]:
        raise UnsuitableSettings([*problems, *_advice(data)])
    publication = Publication(
        study=study,
        account=account,
        internal_name=_unique_internal_name(data),
        name=str(data.get("name") or listing_of(study, version).title)[:120],
        description=str(data.get("description") or "")[:5000],
        project=project[:40],
        workspace=workspace,
        places=_positive_integer(data, "total_available_places"),
        minutes=_positive_integer(data, "estimated_completion_time"),
        devices=[device for device in data.get("device_compatibility") or [] if isinstance(device, str)],
        reward=rule.base,
        currency=rule.currency,
        address=address,
        requires_signature=bool(data.get("is_external_study_url_secure")),
        codes=completion_codes,
    )
    with transaction.atomic():
        _keep(publication, prolific_id=data["id"])
        store_study(publication, data)
    return publication


def _problems(data: Mapping[str, Any], rule: PayRule, *, address: str, currency: str) -> Iterator[str]:
    """Yield what to change on Prolific, apart from the codes."""
    if not _opens_study(data.get("external_study_url"), address):
        yield _("Its study URL does not lead here, or lacks a parameter. Set it to {link}").format(
            link=f"{address}{PARAMETERS}"
        )
    if data.get("prolific_id_option") != "url_parameters":
        yield _("Set Prolific to record participant IDs through URL parameters.")
    if currency != rule.currency:
        yield _(
            "Its workspace pays in {theirs}, but the study here pays in {ours}. The currencies must be the same."
        ).format(theirs=currency, ours=rule.currency)
    if data.get("reward") != hundredths(rule.base):
        yield _("Its reward differs from the study's base pay. Set it to {base} {currency}.").format(
            base=rule.base, currency=rule.currency
        )


def _advice(data: Mapping[str, Any]) -> Iterator[str]:
    if normalised_status(data["status"]) != STATUS.UNPUBLISHED:
        yield _("Prolific doesn't allow these changes to a published study. Copy the study there and change the copy.")


def _opens_study(url: Any, address: str) -> bool:
    """Return whether a link opens the study's entry page and names participant, study and submission."""
    if not isinstance(url, str):
        return False
    parameters = parse_qs(urlsplit(url).query)
    has_parameters = all(parameters.get(name) == [f"{{{{%{name}%}}}}"] for name in NAMES)
    return page_of(url) == page_of(address) and has_parameters


def page_of(url: str) -> tuple[str, str, str]:
    """Return what tells the pages of two links apart: scheme, host, and path without a slash at its end."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower(), parts.path.rstrip("/")


def _unique_internal_name(data: Mapping[str, Any]) -> str:
    """Return its internal name on Prolific, made unique if another study here already has this name."""
    name = str(data.get("internal_name") or "")[:120]
    is_free = name and not Publication.objects.filter(internal_name=name).exists()
    return name if is_free else f"{name[:80]} {data['id']}".strip()


def _positive_integer(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        raise_invalid_response()
    return int(value)
