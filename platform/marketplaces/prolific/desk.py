"""How the admin shows a study on Prolific, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.actions import Action
from marketplaces.kinds import NotPossible
from marketplaces.models import Account, Offer
from marketplaces.offering import FOLLOWING, details_of, more_places, on_offer, publishing_act, unconfirmed
from marketplaces.prolific import authenticity, hooks, publishing
from marketplaces.prolific.client import client_of, text_of
from marketplaces.prolific.forms import FlagsForm, OfferForm, suggestion
from marketplaces.prolific.models import Hook
from marketplaces.prolific.terms import Status, Terms
from recruiters.uploads import LARGEST, BadFile
from rights.roles import Role
from studies.acts import Act, Given
from studies.admin.acts import bound_form
from studies.models import Study, Version

NOTICE, MANY, LINK = "", False, publishing.PARAMETERS
PLACEHOLDER_UID = UUID(int=0)
"""Placeholder for the identifier of a webhook that does not exist yet."""
COLOURS = {
    Status.MAKING: "warning", Status.UNCERTAIN: "danger", Status.UNPUBLISHED: "info", Status.ACTIVE: "success",
    Status.PAUSED: "warning",
}  # fmt: skip
IMPORT = gettext_lazy(
    "Parley changes nothing on Prolific. The study there must use the link {link}, its reward must be the base pay, "
    "and its completion codes must be set to manual review. Parley lists anything you need to change on Prolific."
)


def form_of(request: HttpRequest, study: Study, version: Version, account: Account, address: str) -> Any:
    choices = {"projects": _projects(account), "filters": client_of(account).rows("/filters/")}
    return bound_form(OfferForm, request, initial=suggestion(study, version), **choices)


def _projects(account: Account) -> list[tuple[str, str]]:
    """Return the account's projects on Prolific as choices; the first is the default."""
    client = client_of(account)
    return [
        (text_of(project, "id"), f"{workspace.get('title', '')}: {project.get('title', '')}")
        for workspace in client.rows("/workspaces/")
        for project in client.rows(f"/workspaces/{text_of(workspace, 'id')}/projects/")
    ]


def facts_of(publication: Offer) -> list[tuple[Any, Any]]:
    terms: Terms = publication.terms
    hook = Hook.objects.filter(account=publication.account, workspace=terms.workspace).first()
    codes = {_("finished"): "completed", _("screened out"): "screened_out", _("to be returned"): "returned"}
    optional = [
        (_("Screen-out pay on Prolific"), terms.screen_out and f"{terms.screen_out} {publication.currency}"),
        (_("Partial payments"), terms.parts and _("allowed")),
        (_("Filters"), len(terms.filters)),
        (_("Authenticity"), ", ".join(f"{label}: {n}" for label, n in authenticity.flag_counts(publication))),
    ]
    return [
        (_("Places"), publication.places),
        (_("Reward"), f"{publication.reward} {publication.currency}"),
        (_("Estimated minutes"), terms.minutes),
        (_("Links"), _("signed links only") if terms.requires_signature else _("signed and unsigned")),
        *[(title, value) for title, value in optional if value],
        (_("Notifications from Prolific since"), _minute(hook and hook.subscribed_at)),
        (_("Last updated (UTC)"), _minute(publication.heard_at)),
        (_("Internal name"), publication.reference),
        (_("Study URL"), f"{publication.address}{LINK}"),
        (_("Codes"), " · ".join(f"{title}: {terms.codes.get(ending, '')}" for title, ending in codes.items())),
        (_("Description"), publication.description),
    ]


def _minute(time: Any) -> str:
    return date_format(time, "Y-m-d H:i") if time else "–"


def note_on(publication: Offer) -> str:
    if publication.remote_id is None:
        return _(
            "Prolific's reply was lost, so it is unknown whether the study was created there. Parley checks every "
            "minute, and a draft that is not there disappears here, too."
        )
    if publication.status != Status.UNPUBLISHED:
        return ""
    return _(
        "The study is a draft on Prolific. To choose who can take part, for example by country or language, edit it "
        "there, but change nothing else. Then publish it here."
    )


def recruits(publication: Offer) -> bool:
    return publication.status != Status.COMPLETED


def _has_status(*statuses: str) -> Callable[[Offer], bool]:
    return lambda publication: publication.status in statuses


def _published_before(publication: Offer) -> str:
    is_draft = publication.status == Status.UNPUBLISHED
    return unconfirmed(publication) if is_draft else _("This study has already been published.")


def _subscribe(given: Given) -> None:
    own_address = given.request.build_absolute_uri(reverse("prolific_hook", args=[PLACEHOLDER_UID]))
    hooks.subscribe(given.target, address=own_address.removesuffix(f"{PLACEHOLDER_UID}/"))


def _import_flags(given: Given) -> str:
    try:
        counts = authenticity.import_flags(given.target, given.values["flags"].read(LARGEST + 1))
    except BadFile as error:
        line = _("Line {line}: ")
        problems = [(line.format(line=one.line) if one.line else "") + one.reason for one in error.problems[:10]]
        raise NotPossible(" ".join(problems)) from None
    message = _("Flags imported for participants: {taken}. Lines that match no participant of this study: {unknown}.")
    return message.format(**counts)


ACTS: Mapping[str, Act] = {
    "publish": publishing_act(_published_before),
    "pause": FOLLOWING["pause"],
    "resume": FOLLOWING["resume"],
    "places": more_places(
        gettext_lazy("Prolific reserves the rewards for the new places at once."),
        _has_status(Status.ACTIVE, Status.PAUSED),
    ),
    "stop": FOLLOWING["stop"],
    "authenticity": Act(
        gettext_lazy("import authenticity flags"),
        _import_flags,
        explains=gettext_lazy(
            "Prolific shows the results of its authenticity check on its own pages. The file needs a column "
            "“Submission id” or “Participant id” and a column “Authenticity” with high, mixed or low. Flags have no "
            "automatic effect."
        ),
        log=Action.CHANGED,
        form=FlagsForm,
        hindrance=unconfirmed,
        spends=False,
    ),
    "hooks": Act(
        gettext_lazy("notifications"),
        _subscribe,
        gettext_lazy("Prolific now notifies Parley of changes. Parley still checks every minute."),
        button=gettext_lazy("Receive notifications from Prolific"),
        icon="notifications",
        note=gettext_lazy(
            "Returned places become free at once instead of within a minute. This renews the workspace's secret."
        ),
        log=Action.CHANGED,
        details=details_of,
        hindrance=unconfirmed,
    ),
    "forget": on_offer(
        gettext_lazy("start over"),
        publishing.forget,
        gettext_lazy("The deleted draft was removed here. You can create a new one."),
        icon="restart_alt",
        note=gettext_lazy("First delete the draft on Prolific."),
        offered=_has_status(Status.UNPUBLISHED),
        role=Role.OWNER,
        spends=False,
    ),
}
