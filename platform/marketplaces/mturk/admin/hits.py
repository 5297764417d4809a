"""A study's Mechanical Turk desk: list its tasks, publish another, extend one, or take one off the list."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST
from unfold.decorators import display

from audit import services as audit
from audit.actions import Action
from marketplaces.desks import Desk, bound_form, current_base_pay
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.models import Account, Recruitment
from marketplaces.mturk import comparing, publishing
from marketplaces.mturk.admin.forms import ExtendForm, ProlongForm, TaskForm
from marketplaces.mturk.arriving import KEY
from marketplaces.mturk.client import requester_of
from marketplaces.mturk.errors import Unclear
from marketplaces.mturk.models import Hit
from participants.admin import ReadOnlyAdmin
from recruiters.models import Identity
from rights import parts
from rights.roles import Role
from studies.models import Study

COLOURS = {
    Hit.State.ORDERED: "warning",
    Hit.State.REFUSED: "danger",
    Hit.State.ASSIGNABLE: "success",
    Hit.State.UNASSIGNABLE: "info",
    Hit.State.REVIEWABLE: "info",
    Hit.State.REVIEWING: "info",
    Hit.State.DISPOSED: "default",
}


@admin.register(Hit)
class HitAdmin(Desk, ReadOnlyAdmin):
    """List of tasks, which change only through actions; each action asks for confirmation."""

    desk_title = "Mechanical Turk"
    list_display = ["title", "study", "status_label", "reward", "assignments", "pending", "available", "expires_at"]
    list_select_related = ["study"]
    list_filter = ["state"]
    fields = [
        "study", "account", "title", "description", "keywords", "state", "hit_id", "reward", "assignments",
        "pending", "available", "completed", "expires_at", "problem", "created_at",
    ]  # fmt: skip
    readonly_fields = fields

    @display(description=gettext_lazy("state"), ordering="state", label=COLOURS)
    def status_label(self, hit: Hit) -> tuple[str, str]:
        return hit.state, hit.get_state_display()

    def get_urls(self) -> list[URLPattern]:
        study_pages = {
            "of_study": ("", self.of_study),
            "publish": ("publish/", self.publish),
            "adopt": ("adopt/", require_POST(self.adopt)),
            "worker": ("worker/", require_POST(self.worker)),
        }
        hit_pages = {
            "again": require_POST(self.again),
            "extend": self.extend,
            "prolong": self.prolong,
            "expire": self.expire,
            "dispose": self.dispose,
        }
        view = self.admin_site.admin_view
        return [
            *(
                path(f"of/<int:study_id>/{route}", view(page), name=f"mturk_hit_{name}")
                for name, (route, page) in study_pages.items()
            ),
            *(
                path(f"<int:object_id>/{name}/", view(page), name=f"mturk_hit_{name}")
                for name, page in hit_pages.items()
            ),
            *super().get_urls(),
        ]

    # ---- a study's desk --------------------------------------------------------------------------------

    def of_study(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Show the study's tasks and everyone who came from them."""
        study = self.study_of(request, study_id)
        recruitment = Recruitment.objects.select_related("account").filter(study=study).first()
        lines = comparing.lines_of(study)
        context = {
            "recruitment": recruitment if recruitment and recruitment.account.kind == KEY else None,
            "hits": Hit.objects.filter(study=study).select_related("account"),
            "base": current_base_pay(study),
            "lines": lines,
            "to_do": comparing.number_needing_action(lines),
            "may_change": parts.may(request.user, study, role=Role.EDITOR),
            "may_decide": parts.may(request.user, study, role=Role.OWNER),
            "colours": COLOURS,
        }
        return self._page(request, "desk.html", _("{study} on Mechanical Turk").format(study=study), study, context)

    def publish(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Publish a new task: fill in the form, review the cost, and confirm."""
        study = self.study_of(request, study_id, role=Role.EDITOR)
        title = _("Publish on Mechanical Turk")
        try:
            account = self._account(request, study)
            version = publishing.launched_version(study)
            address = request.build_absolute_uri(study.get_absolute_url())
            publishing.refuse_address(address, account)
        except NotPossible as reason:
            return self._page(request, "publish.html", title, study, {"reason": str(reason)})
        task_context = {"account": account, "reward": publishing.reward_of(version), "address": address}
        if request.method != "POST":
            return self._page(
                request, "publish.html", title, study, {**task_context, "form": TaskForm.prefilled(study, version)}
            )
        form = TaskForm(request.POST, study=study, version=version)
        if not form.is_valid() or "edit" in request.POST:
            return self._page(request, "publish.html", title, study, {**task_context, "form": form})
        task_request = form.task_request()
        try:
            cost = publishing.cost_of(
                version, assignments=task_request.assignments, available=requester_of(account).balance()
            )
        except MarketplaceError as error:
            return self._page(
                request, "publish.html", title, study, {**task_context, "form": form, "error": str(error)}
            )
        if cost.missing or "confirmed" not in request.POST:
            context = {**task_context, "form": form, "task_request": task_request, "cost": cost}
            return self._page(request, "confirm.html", title, study, context)
        return self._order(request, study, account, form.cleaned_data["token"], task_request, address)

    def _order(
        self, request: HttpRequest, study: Study, account: Account, token: uuid.UUID, task_request: Any, address: str
    ) -> HttpResponse:
        with transaction.atomic():
            hit, is_new = publishing.order(
                study=study, account=account, token=token, task_request=task_request, by=request.user
            )
            if hit.study_id != study.pk:
                raise PermissionDenied
            if is_new:
                details = {"assignments": hit.assignments, "reward": str(hit.reward), "account": str(account)}
                self.record_action(request, hit, Action.PUBLISHED, "Ordered a task on Mechanical Turk.", details)
        return self._send(request, hit, address)

    def _send(self, request: HttpRequest, hit: Hit, address: str) -> HttpResponse:
        try:
            publishing.publish(hit, address=address)
        except Unclear as error:
            message = _(
                "{reason} It is not known yet whether the task exists. Parley keeps checking. Sending the order again "
                "does not create a second task."
            )
            self.message_user(request, message.format(reason=error), messages.WARNING)
        except MarketplaceError as error:
            self.message_user(request, _("Not published: {reason}").format(reason=error), messages.ERROR)
        else:
            self.message_user(request, _("Published: workers can find the task now."), messages.SUCCESS)
        return _desk_of(hit.study)

    def again(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Repeat the order for a task whose answer was lost; mTurk treats it as the same task."""
        hit = self._hit(request, object_id)
        if hit.state != Hit.State.ORDERED:
            self.message_user(request, _("This task's status is known by now."), messages.INFO)
            return _desk_of(hit.study)
        self.record_action(request, hit, Action.PUBLISHED, "Sent the order to Mechanical Turk again.")
        return self._send(request, hit, request.build_absolute_uri(hit.study.get_absolute_url()))

    def adopt(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Add a task created elsewhere to the study."""
        study = self.study_of(request, study_id, role=Role.EDITOR)
        requested_id = request.POST.get("hit_id", "").strip()
        try:
            account = self._account(request, study)
            if not (requested_id.isascii() and requested_id.isalnum() and len(requested_id) <= 64):
                raise NotPossible(_("A task's ID consists of letters and digits."))
            hit = publishing.adopt(study=study, account=account, hit_id=requested_id, by=request.user)
        except (MarketplaceError, NotPossible) as reason:
            self.message_user(request, _("Not imported: {reason}").format(reason=reason), messages.ERROR)
        else:
            self.record_action(request, hit, Action.MADE, "Imported a task that was created elsewhere.")
            self.message_user(request, _("Imported: you can now pay its workers here."), messages.SUCCESS)
        return _desk_of(study)

    def worker(self, request: HttpRequest, study_id: int) -> HttpResponse:
        """Show an owner a participant's worker ID, for example to correct a payment; the audit log records it."""
        study = self.study_of(request, study_id, role=Role.OWNER)
        requested_id = request.POST.get("enrolment", "")
        arrivals = Identity.objects.filter(study=study.slug, recruiter=KEY).select_related("enrolment")
        identity = (
            arrivals.filter(enrolment__pk=requested_id).first()
            if requested_id.isascii() and requested_id.isdigit()
            else None
        )
        if identity is None:
            self.message_user(request, _("This participant does not exist or has been deleted."), messages.ERROR)
            return _desk_of(study)
        audit.record(action=Action.IDENTITY_SHOWN, user=request.user, target=identity.enrolment, of=study)
        return self._page(request, "worker.html", _("Worker ID on Mechanical Turk"), study, {"identity": identity})

    # ---- one task --------------------------------------------------------------------------------------

    def extend(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Add assignments to a task."""
        hit = self._hit(request, object_id)
        form = bound_form(ExtendForm, request, initial={"token": uuid.uuid4()})
        texts = {
            "text": _(
                "Each assignment costs ${each} (reward and fee) when it is approved. A task that was created with "
                "fewer than 10 assignments can never have 10 or more."
            ).format(each=publishing.cost_per_assignment(hit)),
            "button": _("Add assignments"),
        }
        return self._action(
            request,
            hit,
            title=_("More assignments"),
            texts=texts,
            form=form,
            action=Action.EXTENDED,
            act=lambda: publishing.extend(hit, number=form.cleaned_data["number"], token=form.cleaned_data["token"]),
            success=_("More people can do the task now."),
        )

    def prolong(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Change when a task's offer expires."""
        hit = self._hit(request, object_id)
        form = bound_form(ProlongForm, request, initial={"hours": 72})
        return self._action(
            request,
            hit,
            title=_("Extend the deadline"),
            texts={
                "text": _("The task stays available for this many hours from now."),
                "button": _("Set the deadline"),
            },
            form=form,
            action=Action.EXTENDED,
            act=lambda: publishing.prolong(hit, hours=form.cleaned_data["hours"]),
            success=_("The new deadline is saved."),
        )

    def expire(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Take a task off the list."""
        hit = self._hit(request, object_id)
        explanation = _(
            "No more workers can find or accept the task. Workers who have already accepted it can finish and submit."
        )
        return self._action(
            request,
            hit,
            title=_("End the task"),
            texts={"text": explanation, "button": _("End task")},
            form=None,
            action=Action.EXPIRED,
            act=lambda: publishing.expire(hit),
            success=_("The task has ended: no more workers can accept it."),
        )

    def dispose(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Delete a task on mTurk."""
        hit = self._hit(request, object_id, role=Role.OWNER)
        explanation = _(
            "Mechanical Turk deletes the task: rejected assignments can no longer be approved, and Parley gets no more "
            "updates about it. Only a task that has ended and whose assignments are all decided can be deleted. "
            "Mechanical Turk deletes tasks automatically after 120 days."
        )
        return self._action(
            request,
            hit,
            title=_("Delete the task on Mechanical Turk"),
            texts={"text": explanation, "button": _("Delete on Mechanical Turk")},
            form=None,
            action=Action.DELETED,
            act=lambda: publishing.delete(hit),
            success=_("Deleted on Mechanical Turk. The task remains listed here."),
        )

    def _action(
        self,
        request: HttpRequest,
        hit: Hit,
        *,
        title: str,
        texts: dict[str, str],
        form: forms.Form | None,
        action: Action,
        act: Callable[[], None],
        success: str,
    ) -> HttpResponse:
        """Show a confirmation page, and perform the action once it is confirmed."""
        desk = reverse("admin:mturk_hit_of_study", args=[hit.study_id])
        page_options = {"title": title, "back": desk, "about": hit.title, "form": form, "button": texts["button"]}
        if request.method != "POST" or (form is not None and not form.is_valid()):
            return self.confirmation_page(request, hit.study, sentences=[_summary(hit), texts["text"]], **page_options)
        if hit.hit_id is None:
            self.message_user(request, _("Not done: it is not known yet whether the task exists."), messages.ERROR)
            return _desk_of(hit.study)
        self.record_action(request, hit, action, f"Asked Mechanical Turk: {title}.")
        try:
            act()
        except Unclear as error:
            message = _(
                "{reason} It is unknown whether this took effect. It is safe to try again: nothing is done twice."
            )
            message = message.format(reason=error)
            return self.confirmation_page(
                request, hit.study, problem=message, sentences=[_summary(hit), texts["text"]], **page_options
            )
        except (MarketplaceError, NotPossible) as reason:
            self.message_user(request, _("Not done: {reason}").format(reason=reason), messages.ERROR)
        else:
            self.message_user(request, success, messages.SUCCESS)
        return _desk_of(hit.study)

    # ---- shared helpers --------------------------------------------------------------------------------

    def _hit(self, request: HttpRequest, object_id: int, *, role: Role = Role.EDITOR) -> Hit:
        """Return a task, if the user has this role in its study and may use its account.

        Raises:
            Http404, PermissionDenied
        """
        hit: Hit = self.seen(request, str(object_id), role=role)
        self.refuse_without_account(request, hit.account)
        return hit

    def _account(self, request: HttpRequest, study: Study) -> Account:
        """Return the study's account, if the user may recruit with it.

        Raises:
            NotPossible
        """
        recruitment = Recruitment.objects.select_related("account").filter(study=study).first()
        if recruitment is None or recruitment.account.kind != KEY:
            raise NotPossible(_("First choose a Mechanical Turk account for the study (Recruitments)."))
        if not parts.may(request.user, recruitment.account, role=Role.EDITOR):
            raise NotPossible(_("Only editors and owners of the study's account may recruit with it. Ask one of them."))
        return recruitment.account

    def _page(
        self, request: HttpRequest, template: str, title: str, study: Study, context: dict[str, Any]
    ) -> HttpResponse:
        desk = reverse("admin:mturk_hit_of_study", args=[study.pk])
        return self.page(request, f"admin/mturk/{template}", title, {"study": study, "desk": desk, **context})


def _desk_of(study: Study) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("admin:mturk_hit_of_study", args=[study.pk]))


def _summary(hit: Hit) -> str:
    """Return a one-line summary of a task."""
    facts = [
        _("${reward} each").format(reward=hit.reward),
        ngettext("{number} assignment", "{number} assignments", hit.assignments).format(number=hit.assignments),
        hit.get_state_display(),
    ]
    if hit.expires_at is not None:
        facts.append(_("available until {at} (UTC)").format(at=date_format(hit.expires_at, "Y-m-d H:i")))
    return " · ".join(facts)
