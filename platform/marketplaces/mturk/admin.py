"""A study's Mechanical Turk desk: its tasks, which change only through actions that ask for confirmation."""

from __future__ import annotations

import re
import uuid
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST
from unfold.decorators import display

from audit.actions import Action
from marketplaces.desks import Desk
from marketplaces.kinds import MarketplaceError, NotPossible, Unclear
from marketplaces.mturk import fees, publishing
from marketplaces.mturk.forms import ExtendForm, ProlongForm, TaskForm
from marketplaces.mturk.models import KEY, Hit
from participants.admin import ReadOnlyAdmin
from rights import parts
from rights.roles import Role
from studies.acts import Act, Given
from studies.models import Study


def _desk_of(study: Study) -> str:
    return reverse("admin:mturk_hit_of_study", args=[study.pk])


def _unconfirmed(hit: Hit) -> str:
    return "" if hit.hit_id is not None else _("Not done: it is not known yet whether the task exists.")


def _unordered(hit: Hit) -> str:
    return "" if hit.state == Hit.State.ORDERED else _("This task's status is known by now.")


def _price(hit: Hit) -> str:
    each = hit.reward + fees.reward_fee(hit.reward, assignments=hit.assignments)
    return _(
        "Each assignment costs ${each} (reward and fee) when it is approved. A task that was created with fewer than "
        "10 assignments can never have 10 or more."
    ).format(each=each)


def _exists(hit: Hit) -> bool:
    return hit.state != Hit.State.DISPOSED


def _on_task(title: Any, does: Callable[[Given], None], done: Any, explains: Any, log: Action, **more: Any) -> Act:
    """Return an action on a task that mTurk has; its entry comes first, because its outcome may remain unknown."""
    options = {"log_first": True, "hindrance": _unconfirmed, "offered": _exists, **more}
    return Act(title, does, done, explains=explains, log=log, **options)


def _send(given: Given) -> str:
    """Send an order, which mTurk takes for the same task however often it arrives."""
    address = given.request.build_absolute_uri(given.target.study.get_absolute_url())
    try:
        publishing.publish(given.target, address=address)
    except Unclear as error:
        message = _(
            "{reason} It is not known yet whether the task exists. Parley keeps checking. Sending the order again does "
            "not create a second task."
        )
        raise MarketplaceError(message.format(reason=error)) from None
    except MarketplaceError as error:
        raise MarketplaceError(_("Not published: {reason}").format(reason=error)) from None
    return _("Published: workers can find the task now.")


@admin.register(Hit)
class HitAdmin(Desk, ReadOnlyAdmin):
    """List of tasks, and the desk of each study."""

    kind, desk_title = KEY, "Mechanical Turk"
    id_field, id_pattern = "hit_id", re.compile(r"[A-Za-z0-9]{1,64}")
    id_rule = gettext_lazy("A task's ID consists of letters and digits.")
    adopted = gettext_lazy("Imported: you can now pay its workers here.")
    list_display = ["title", "study", "status_label", "reward", "assignments", "pending", "available", "expires_at"]
    list_select_related = ["study"]
    list_filter = ["state"]
    fields = [
        "study", "account", "title", "description", "keywords", "state", "hit_id", "reward", "assignments",
        "pending", "available", "completed", "expires_at", "problem", "created_at",
    ]  # fmt: skip
    readonly_fields = fields
    acts = {
        "again": Act(
            gettext_lazy("Send it again (no duplicate task)"),
            _send,
            log=Action.PUBLISHED,
            log_first=True,
            hindrance=_unordered,
        ),
        "extend": _on_task(
            gettext_lazy("More assignments"),
            lambda given: publishing.extend(given.target, **given.values),
            gettext_lazy("More people can do the task now."),
            _price,
            Action.EXTENDED,
            button=gettext_lazy("Add assignments"),
            form=ExtendForm,
            initial=lambda: {"token": uuid.uuid4()},
        ),
        "prolong": _on_task(
            gettext_lazy("Extend the deadline"),
            lambda given: publishing.offer_for(given.target, hours=given.values["hours"]),
            gettext_lazy("The new deadline is saved."),
            gettext_lazy("The task stays available for this many hours from now."),
            Action.EXTENDED,
            button=gettext_lazy("Set the deadline"),
            form=ProlongForm,
            initial=lambda: {"hours": 72},
        ),
        "expire": _on_task(
            gettext_lazy("End the task"),
            lambda given: publishing.offer_for(given.target, hours=-1),
            gettext_lazy("The task has ended: no more workers can accept it."),
            gettext_lazy("No more workers can find or accept the task. Those who have accepted it can finish."),
            Action.EXPIRED,
        ),
        "dispose": _on_task(
            gettext_lazy("Delete on Mechanical Turk"),
            lambda given: publishing.delete(given.target),
            gettext_lazy("Deleted on Mechanical Turk. The task remains listed here."),
            gettext_lazy(
                "Mechanical Turk deletes the task: rejected assignments can no longer be approved, and Parley gets no "
                "more updates about it. Only a task that has ended and whose assignments are all decided can be "
                "deleted. Mechanical Turk deletes tasks automatically after 120 days."
            ),
            Action.DELETED,
            role=Role.OWNER,
        ),
    }

    @display(
        description=gettext_lazy("state"),
        ordering="state",
        label={Hit.State.ORDERED: "warning", Hit.State.REFUSED: "danger", Hit.State.ASSIGNABLE: "success"},
    )
    def status_label(self, hit: Hit) -> tuple[str, str]:
        return hit.state, hit.get_state_display()

    def get_urls(self) -> list[URLPattern]:
        study_pages = {
            "of_study": ("", self.of_study),
            "publish": ("publish/", self.publish),
            "adopt": ("adopt/", require_POST(self.adopt)),
        }
        return [*self.urls_of("mturk_hit", study_pages), *super().get_urls()]

    def back_of(self, target: Hit) -> str:
        return _desk_of(target.study)

    def facts_of(self, target: Hit) -> Sequence[str]:
        number = ngettext("{number} assignment", "{number} assignments", target.assignments)
        facts = [_("${reward} each").format(reward=target.reward), number.format(number=target.assignments)]
        facts.append(target.get_state_display())
        if target.expires_at is not None:
            facts.append(_("available until {at} (UTC)").format(at=date_format(target.expires_at, "Y-m-d H:i")))
        return [" · ".join(facts)]

    def of_study(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Show the study's tasks and everyone who came from them."""
        study = self.study_of(request, study_id)
        hits = Hit.objects.filter(study=study).select_related("account", "study")
        rights: defaultdict[int, dict[tuple[Role, bool], bool]] = defaultdict(dict)
        context = {
            **self.context_of(request, study),
            "hits": [(hit, self.buttons_of(request, hit, rights[hit.account_id])) for hit in hits],
            "may_change": parts.may(request.user, study, role=Role.EDITOR),
        }
        return self._page(request, "desk.html", _("{study} on Mechanical Turk").format(study=study), study, context)

    def publish(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Publish a new task: fill in the form, review the cost, and confirm."""
        study, title = self.study_of(request, study_id, role=Role.EDITOR), _("Publish on Mechanical Turk")
        address = request.build_absolute_uri(study.get_absolute_url())
        try:
            version, account = publishing.ready(study)
            if not parts.may(request.user, account, role=Role.EDITOR):
                raise NotPossible(
                    _("Only editors and owners of the study's account may recruit with it. Ask one of them.")
                )
            publishing.refuse_address(address, account)
        except NotPossible as reason:
            return self._page(request, "publish.html", title, study, {"reason": str(reason)})
        context: dict[str, Any] = {"account": account, "reward": version.plan.pay.base, "address": address}
        posted = request.method == "POST"
        form = TaskForm(request.POST, study=study, version=version) if posted else TaskForm.prefilled(study, version)
        context["form"] = form
        if not posted or not form.is_valid() or "edit" in request.POST:
            return self._page(request, "publish.html", title, study, context)
        task, token = form.task(), form.cleaned_data["token"]
        try:
            price = publishing.price_of(version, account, assignments=task["assignments"])
        except MarketplaceError as error:
            return self._page(request, "publish.html", title, study, {**context, "error": str(error)})
        if price.missing or "confirmed" not in request.POST:
            return self._page(request, "confirm.html", title, study, {**context, "task": task, "cost": price})
        with transaction.atomic():
            hit, is_new = publishing.order(study=study, token=token, by=request.user, **task)
            if hit.study_id != study.pk:
                raise PermissionDenied
            if is_new:
                details = {"assignments": hit.assignments, "reward": str(hit.reward), "account": str(account)}
                self.record_action(request, hit, Action.PUBLISHED, "Ordered a task on Mechanical Turk.", details)
        return self.carry_out(request, hit, replace(self.acts["again"], log=None, hindrance=lambda hit: ""))

    def _page(self, request: HttpRequest, template: str, title: str, study: Study, context: Any) -> HttpResponse:
        full_context = {"study": study, "desk": _desk_of(study), **context}
        return self.page(request, f"admin/mturk/{template}", title, full_context)
