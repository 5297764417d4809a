"""How the admin shows tasks on Mechanical Turk, and what can be done with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.actions import Action
from marketplaces.models import Account, Offer
from marketplaces.mturk import publishing
from marketplaces.mturk.forms import ProlongForm, TaskForm, suggestion
from marketplaces.mturk.terms import Status, Terms
from marketplaces.offering import FOLLOWING, more_places, on_offer, publishing_act
from recruiters.terms import mturk_fee
from rights.roles import Role
from studies.acts import Act
from studies.admin.acts import bound_form
from studies.models import Study, Version

NOTICE, MANY, LINK = "admin/mturk/closing.html", True, ""
COLOURS = {
    Status.DRAFT: "info", Status.ORDERED: "warning", Status.REFUSED: "danger", Status.ASSIGNABLE: "success",
}  # fmt: skip
IMPORT = gettext_lazy(
    "The task must belong to the same account and open {link} with workerId, assignmentId and hitId. You can then pay "
    "its workers here."
)


def form_of(request: HttpRequest, study: Study, version: Version, account: Account, address: str) -> Any:
    publishing.refuse_address(address, account)
    return bound_form(TaskForm, request, study=study, version=version, initial=suggestion(study, version))


def facts_of(hit: Offer) -> list[tuple[Any, Any]]:
    terms: Terms = hit.terms
    until = date_format(terms.expires_at, "Y-m-d H:i") if terms.expires_at else "–"
    counts = _("{free} available, {pending} in progress, {completed} decided").format(
        free=terms.available, pending=terms.pending, completed=terms.completed
    )
    return [
        (_("Reward"), f"${hit.reward}"), (_("Assignments"), f"{hit.places}: {counts}"),
        (_("Available until (UTC)"), until), (_("HIT ID"), hit.remote_id or "–"),
    ]  # fmt: skip


def note_on(hit: Offer) -> str:
    if hit.status != Status.ORDERED:
        return ""
    return _("Mechanical Turk has not confirmed this task. Parley checks every minute whether it exists.")


def recruits(hit: Offer) -> bool:
    return hit.status == Status.ASSIGNABLE


def _only(status: str, refusal: Any) -> Any:
    return lambda hit: "" if hit.status == status else str(refusal)


def _price(hit: Offer) -> str:
    each = hit.reward + mturk_fee(hit.reward, assignments=hit.places)
    return _(
        "Each assignment costs ${each} (reward and fee) when it is approved. A task that was created with fewer than "
        "10 assignments can never have 10 or more."
    ).format(each=each)


def _exists(hit: Offer) -> bool:
    return hit.status != Status.DISPOSED


def _on_task(title: Any, does: Any, done: Any, explains: Any, log: Action, **more: Any) -> Act:
    """Return an action on a task that mTurk has; its entry comes first, because its outcome may remain unknown."""
    common = {"explains": explains, "log_first": True, "offered": _exists}
    return on_offer(title, does, done, log, **common, **more)


ACTS: Mapping[str, Act] = {
    "publish": publishing_act(_only(Status.DRAFT, gettext_lazy("This task has already been published."))),
    "again": on_offer(
        gettext_lazy("Send it again (no duplicate task)"),
        publishing.publish,
        gettext_lazy("Published: participants can find it now."),
        Action.PUBLISHED,
        log_first=True,
        hindrance=_only(Status.ORDERED, gettext_lazy("This task's status is known by now.")),
    ),
    "discard": on_offer(
        gettext_lazy("Discard the draft"),
        Offer.delete,
        gettext_lazy("The draft was removed."),
        hindrance=_only(Status.DRAFT, gettext_lazy("Only a draft can be discarded.")),
        spends=False,
    ),
    "places": more_places(_price, _exists),
    "pause": FOLLOWING["pause"],
    "resume": FOLLOWING["resume"],
    "prolong": _on_task(
        gettext_lazy("Extend the deadline"),
        publishing.offer_for,
        gettext_lazy("The new deadline is saved."),
        gettext_lazy("The task stays available for this many hours from now."),
        Action.EXTENDED,
        button=gettext_lazy("Set the deadline"),
        form=ProlongForm,
        initial=lambda: {"hours": 72},
    ),
    "dispose": _on_task(
        gettext_lazy("Delete on Mechanical Turk"),
        publishing.delete,
        gettext_lazy("Deleted on Mechanical Turk. The task remains listed here."),
        gettext_lazy(
            "Mechanical Turk deletes the task: rejected assignments can no longer be approved, and Parley gets no more "
            "updates about it. Only a task that has ended and whose assignments are all decided can be deleted. "
            "Mechanical Turk deletes tasks automatically after 120 days."
        ),
        Action.DELETED,
        role=Role.OWNER,
    ),
}
