"""Offer a study on Prolific: create a draft, publish, pause, resume and stop it, and add places.

Two requests to create a study create two studies. The internal name is therefore stored here first. If the response is
lost, Parley looks for a study with that name before it creates another.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from marketplaces import offers
from marketplaces.kinds import MarketplaceError, NotPossible, NotThere, Refused, Unclear
from marketplaces.models import Account, Offer
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
from marketplaces.prolific.terms import KIND, Status, Terms, publication_of, was_published
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


def ready(study: Study) -> tuple[Version, PayRule, Account]:
    """Return the version, its pay rule and the account to publish with. Raise NotPossible."""
    return offers.ready(study, KIND, statuses=(Study.Status.LAUNCHED,))


def create(
    study: Study, *, address: str, by: Any, terms: Mapping[str, Any], by_treatment: bool = False, **offer: Any
) -> Offer:
    """Create the study on Prolific, as a draft that nobody sees yet.

    Args:
        address: of the study's entry page, as participants' browsers reach it.
        terms: those of `Terms` that the researcher chose.
        by_treatment: whether each cell has its own address on Prolific.
        offer: likewise of `Offer`.

    Raises:
        NotPossible
        MarketplaceError: the offer is kept as uncertain if it may have been created; `find_created` looks for it.
    """
    version, rule, account = ready(study)
    chosen = Terms(**terms)
    _refuse_screen_out(chosen.screen_out, rule)
    client = client_of(account)
    workspace, currency = workspace_of(client, chosen.project)
    if currency != rule.currency:
        raise NotPossible(
            _(
                "The study pays in {ours}, but the account's workspace pays in {theirs}. The currencies must be the "
                "same."
            ).format(ours=rule.currency, theirs=currency)
        )
    cells = list(version.cells.order_by("number")) if by_treatment else []
    more = {
        "workspace": workspace,
        "codes": codes.new_codes(parts=chosen.parts),
        "treatments": {secrets.token_urlsafe(9): cell.number for cell in cells},
    }
    publication = _new(
        study, account, rule, chosen.model_copy(update=more), address=address, created_by=by,
        reference=f"parley-{study.slug}-{secrets.token_hex(4)}",
        **{**offer, **({"places": sum(cell.places for cell in cells)} if cells else {})},
    )  # fmt: skip
    try:
        store_study(publication, client.study(method="POST", fields=fields_of(publication, version)))
    except Unclear:
        publication.keep(status=Status.UNCERTAIN)
        raise
    except MarketplaceError as error:
        publication.delete()
        is_optional = chosen.screen_out is not None or chosen.parts
        if isinstance(error, Refused) and is_optional and "completion_codes" in error.reason:
            message = _(
                "Prolific did not accept the screen-out payment or partial payments; the workspace may not support "
                "them. {why}"
            )
            raise NotPossible(message.format(why=error)) from None
        raise
    return publication


def _new(study: Study, account: Account, rule: PayRule, terms: Terms, **offer: Any) -> Offer:
    """Keep a new offer. Raise NotPossible if the study is on Prolific already."""
    with transaction.atomic():
        Study.objects.select_for_update().get(pk=study.pk)
        if publication_of(study=study) is not None:
            raise NotPossible(_("The study is already on Prolific."))
        return Offer.objects.create(
            study=study, account=account, status=Status.MAKING, reward=rule.base, currency=rule.currency,
            ordered_at=timezone.now(), terms_stored=terms.model_dump(mode="json"), **offer,
        )  # fmt: skip


def workspace_of(client: Client, project: str) -> tuple[str, str]:
    """Return the workspace that pays and its currency. Raise NotPossible or MarketplaceError."""
    workspaces = list(client.rows("/workspaces/"))
    if not workspaces:
        raise NotPossible(_("The account belongs to no workspace. First create a workspace on Prolific."))
    workspace = (
        text_of(client.ask("GET", f"/projects/{project}/"), "workspace") if project else text_of(workspaces[0], "id")
    )
    return workspace, client.balance(workspace)[1]


def fields_of(publication: Offer, version: Version) -> dict[str, Any]:
    """Return the study's fields as sent to Prolific."""
    terms: Terms = publication.terms
    fields: dict[str, Any] = {
        "name": publication.name,
        "internal_name": publication.reference,
        "description": publication.description,
        "external_study_url": f"{publication.address}{PARAMETERS}",
        "is_external_study_url_secure": terms.requires_signature,
        "prolific_id_option": "url_parameters",
        "completion_codes": codes.for_prolific(
            terms.codes, pay_of(version), screen_out=terms.screen_out, slots=publication.places
        ),
        "total_available_places": publication.places,
        "estimated_completion_time": terms.minutes,
        "maximum_allowed_time": max(version.plan.minutes, TIME_LIMIT_FACTOR * terms.minutes),
        "reward": hundredths(publication.reward),
        "device_compatibility": terms.devices,
        "submissions_config": {"max_submissions_per_participant": 1},
    }
    if terms.treatments:
        places = {cell.number: cell.places for cell in version.cells.all()}
        link = f"{publication.address}{PARAMETERS}&{TREATMENT}="
        fields["access_details"] = [
            {"external_url": f"{link}{key}", "total_allocation": places[number]}
            for key, number in terms.treatments.items()
        ]
    optional = {"filters": terms.filters, "project": terms.project}
    return fields | {name: value for name, value in optional.items() if value}


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


def find_created(publication: Offer) -> None:
    """Look for the study whose creation was never confirmed; if there is none, forget it, so that it can be created."""
    client, own_name = client_of(publication.account), publication.reference
    names = (text_of(row, "id") for row in client.rows("/studies/") if row.get("internal_name") == own_name)
    if found := next(names, ""):
        store_study(publication, client.study(found))
    elif (publication.ordered_at or timezone.now()) < timezone.now() - CREATION_TIME:
        Offer.objects.filter(pk=publication.pk, remote_id=None).delete()


def store_study(publication: Offer, data: Mapping[str, Any]) -> None:
    """Store what Prolific reports about the study."""
    status, prolific_id = normalised_status(data["status"]), text_of(data, "id")
    if len(prolific_id) > LONGEST_ID or publication.remote_id not in (None, prolific_id):
        raise_invalid_response()
    places, project = data.get("total_available_places"), data.get("project")
    if isinstance(places, int | float) and 1 <= places < MOST_PLACES:
        publication.places = int(places)
    publication.keep(
        remote_id=prolific_id,
        status=status if status in Status else publication.status,
        heard_at=timezone.now(),
        places=publication.places,
        terms={"fee_rate": _fee_rate(publication, data), **({"project": project} if isinstance(project, str) else {})},
    )


def _fee_rate(publication: Offer, data: Mapping[str, Any]) -> Decimal:
    """Return fees and taxes per unit of reward, from the total cost; the previous rate if Prolific reports no cost."""
    rewards = publication.reward * publication.places
    if not isinstance(data.get("total_cost"), int | float) or rewards <= 0:
        return Decimal(publication.terms.fee_rate)
    rate = max(Decimal(0), units(data["total_cost"]) / rewards - 1)
    if rate > HIGHEST_FEE_RATE:
        raise_invalid_response()
    return rate.quantize(Decimal("0.0001"))


def price_of(publication: Offer) -> Price:
    """Return what publishing costs, and the balance; nothing is stored. Raise MarketplaceError."""
    client = client_of(publication.account)
    data = client.study(str(publication.remote_id))
    fee_rate = _fee_rate(publication, data)
    if isinstance(data.get("total_cost"), int | float):
        total = units(data["total_cost"])
    else:
        fields = {"reward": hundredths(publication.reward), "total_available_places": publication.places}
        total = units(client.ask("POST", "/study-cost-calculator/", fields).get("total_cost"))
    balance, currency = client.balance(publication.terms.workspace)
    costs = shown_costs(publication.study)
    if costs is not None:
        costs = costs.of(places=publication.places, terms=with_share(costs.terms, fee_rate))
    return Price(total=total, costs=costs, balance=balance, currency=currency)


def stated(study: str) -> Stated | None:
    """Return what Prolific states about the study with this short name; None if it is not there."""
    if (publication := publication_of(study__slug=study)) is None:
        return None
    return Stated(publication.terms.fee_rate or None, publication.terms.minutes)


def refuse_other_account(publication: Offer) -> None:
    """Raise NotPossible if the account that would pay is not the one that the study recruits through now."""
    if publication.study.recruitment.account_id != publication.account_id:
        raise NotPossible(
            _("The study now recruits through a different account from the one that created it on Prolific.")
        )


def publish(publication: Offer) -> None:
    """Publish the study, so that participants see it.

    Raises:
        NotPossible
        MarketplaceError: if the response was lost, `refresh` shows the outcome.
    """
    ready(publication.study)
    refuse_other_account(publication)
    _change_status(publication, "PUBLISH")


_STATUSES_AFTER = {
    "PUBLISH": (Status.ACTIVE, Status.PUBLISHING, Status.SCHEDULED),
    "PAUSE": (Status.PAUSED,),
    "START": (Status.ACTIVE,),
    "STOP": (Status.AWAITING_REVIEW, Status.COMPLETED),
}


def _change_status(publication: Offer, action: str) -> None:
    """Request the action; if Prolific refuses or the response is lost, the status that it then reports decides.

    Raise MarketplaceError.
    """
    client, key = client_of(publication.account), str(publication.remote_id)
    try:
        store_study(publication, client.study(key, "transition", method="POST", fields={"action": action}))
    except (Unclear, Refused):
        store_study(publication, client.study(key))
        if publication.status not in _STATUSES_AFTER[action]:
            raise


def refresh(publication: Offer) -> None:
    """Fetch the study's current status. Raise MarketplaceError."""
    store_study(publication, client_of(publication.account).study(str(publication.remote_id)))


def set_places(publication: Offer, places: int) -> None:
    """Set the total number of places offered; repeating this changes nothing. Raise NotPossible or MarketplaceError."""
    if publication.terms.treatments:
        raise NotPossible(_("Each treatment has its own places. Change them on Prolific."))
    fields = {"total_available_places": places}
    client = client_of(publication.account)
    store_study(publication, client.study(str(publication.remote_id), method="PATCH", fields=fields))


def forget(publication: Offer) -> None:
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

_RECRUITING = (Status.ACTIVE, Status.PUBLISHING, Status.SCHEDULED)
_DUE_FROM: Mapping[str, tuple[str, ...]] = {
    Study.Status.LAUNCHED: (Status.PAUSED,),
    Study.Status.PAUSED: _RECRUITING,
    Study.Status.CLOSED: (*_RECRUITING, Status.PAUSED),
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


def state_of(publications: list[Offer]) -> str:
    if not publications:
        return _("not there yet")
    return f"{publications[0].status_label}, {places_sentence(publications[0].places)}"


def is_due(publication: Offer, status: str) -> bool:
    return publication.status in _DUE_FROM.get(status, ())


def change(publication: Offer, status: str) -> None:
    """Pause, stop or resume the study there; its own account pays what is then spent."""
    if status == Study.Status.LAUNCHED:
        refuse_other_account(publication)
    actions = {Study.Status.PAUSED: "PAUSE", Study.Status.CLOSED: "STOP", Study.Status.LAUNCHED: "START"}
    _change_status(publication, actions[Study.Status(status)])


def places_of(publication: Offer) -> int:
    """Return its places; 0 before publishing, and if each treatment has its own places."""
    return publication.places if was_published(publication) and not publication.terms.treatments else 0


# ---- studies created on Prolific itself ------------------------------------------------------------


class UnsuitableSettings(NotPossible):
    """The study on Prolific has unsuitable settings; `changes` says what to change there."""

    def __init__(self, changes: list[str]) -> None:
        super().__init__(" ".join((_("Please change this on Prolific:"), *changes)))
        self.changes = changes


def id_of(typed: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{24}", typed.lower()):
        raise NotPossible(
            _("A study's ID on Prolific has 24 letters and digits, and is at the end of its address there.")
        )
    return typed.lower()


def adopt(study: Study, account: Account, *, key: str, address: str, by: Any = None) -> Offer:
    """Link the study to the one on Prolific that has this identifier (`modules`).

    Raises:
        NotPossible: this study is already on Prolific.
        UnsuitableSettings
        MarketplaceError
    """
    version, rule, _account = ready(study)
    client = client_of(account)
    data = client.study(key)
    project = data["project"] if isinstance(data.get("project"), str) else ""
    workspace, currency = workspace_of(client, project)
    completion_codes, code_problems = codes.of_prolific(data.get("completion_codes"), rule)
    if problems := [*_problems(data, rule, address=address, currency=currency), *code_problems]:
        if normalised_status(data["status"]) != Status.UNPUBLISHED:
            advice = _(
                "Prolific doesn't allow these changes to a published study. Copy the study there and change the copy."
            )
            problems.append(advice)
        raise UnsuitableSettings(problems)
    terms = Terms(
        project=project,
        workspace=workspace,
        minutes=_positive_integer(data, "estimated_completion_time"),
        devices=[device for device in data.get("device_compatibility") or [] if isinstance(device, str)],
        requires_signature=bool(data.get("is_external_study_url_secure")),
        codes=completion_codes,
    )
    offer = {
        "name": str(data.get("name") or listing_of(study, version).title)[:120],
        "description": str(data.get("description") or "")[:5000],
        "places": _positive_integer(data, "total_available_places"),
        "reference": _unique_internal_name(data),
    }
    with transaction.atomic():
        publication = _new(study, account, rule, terms, address=address, created_by=by, **offer)
        store_study(publication, data)
    return publication


def _problems(data: Mapping[str, Any], rule: PayRule, *, address: str, currency: str) -> list[str]:
    """Return what to change on Prolific, apart from the codes."""
    wrong = {
        _("Its study URL does not lead here, or lacks a parameter. Set it to {link}"): not _opens_study(
            data.get("external_study_url"), address
        ),
        _("Set Prolific to record participant IDs through URL parameters."): (
            data.get("prolific_id_option") != "url_parameters"
        ),
        _("Its workspace pays in {theirs}, but the study here pays in {ours}. The currencies must be the same."): (
            currency != rule.currency
        ),
        _("Its reward differs from the study's base pay. Set it to {base} {ours}."): (
            data.get("reward") != hundredths(rule.base)
        ),
    }
    words = {"link": f"{address}{PARAMETERS}", "theirs": currency, "ours": rule.currency, "base": rule.base}
    return [text.format(**words) for text, is_wrong in wrong.items() if is_wrong]


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
    is_free = name and not Offer.objects.filter(reference=name).exists()
    return name if is_free else f"{name[:80]} {data['id']}".strip()


def _positive_integer(data: Mapping[str, Any], name: str) -> int:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 1:
        raise_invalid_response()
    return int(value)
