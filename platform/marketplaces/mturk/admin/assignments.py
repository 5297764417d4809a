"""Submitted assignments: members can view them; owners can reject them and undo a rejection."""

from __future__ import annotations

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path, reverse
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from audit.actions import Action
from marketplaces.desks import Desk, bound_form
from marketplaces.kinds import MarketplaceError, NotPossible
from marketplaces.mturk import deciding
from marketplaces.mturk.admin.forms import RejectForm
from marketplaces.mturk.errors import Unclear
from marketplaces.mturk.models import Assignment
from marketplaces.rejecting import without_identifiers
from participants.admin import ReadOnlyAdmin
from rights.roles import Role

COLOURS = {
    Assignment.Status.SUBMITTED: "warning",
    Assignment.Status.APPROVED: "success",
    Assignment.Status.REJECTED: "danger",
}


@admin.register(Assignment)
class AssignmentAdmin(Desk, ReadOnlyAdmin):
    desk_title = "Mechanical Turk"
    list_display = ["submitted_at", "hit", "who", "status_label", "auto_approval_at"]
    list_select_related = ["hit", "identity__enrolment"]
    list_filter = ["status", "whose"]
    fields = ["hit", "who", "status", "submitted_at", "auto_approval_at"]
    readonly_fields = fields

    @display(description=gettext_lazy("participant"))
    def who(self, assignment: Assignment) -> str:
        return str(assignment)

    @display(description=gettext_lazy("status"), ordering="status", label=COLOURS)
    def status_label(self, assignment: Assignment) -> tuple[str, str]:
        return assignment.status, assignment.get_status_display()

    def get_urls(self) -> list[URLPattern]:
        actions = {"reject": self.reject, "take_back": self.take_back}
        own_urls = [
            path(f"<int:object_id>/{name}/", self.admin_site.admin_view(page), name=f"mturk_assignment_{name}")
            for name, page in actions.items()
        ]
        return [*own_urls, *super().get_urls()]

    def reject(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Reject an assignment after confirmation; the worker reads the reason."""
        assignment, desk = self._assignment_and_desk(request, object_id)
        form, problem = bound_form(RejectForm, request), ""
        if form.is_bound and form.is_valid():
            reason = form.cleaned_data["reason"]
            person = assignment.identity.enrolment if assignment.identity is not None else None
            summary, details = (
                "Asked Mechanical Turk to reject an assignment.",
                {"reason": without_identifiers(reason, person)},
            )
            try:
                deciding.reject(
                    assignment,
                    reason=reason,
                    user=request.user,
                    record=lambda: self.record_action(request, assignment, Action.REJECTED, summary, details),
                )
                self.message_user(request, _("Rejected. The worker sees your reason."), messages.SUCCESS)
                return HttpResponseRedirect(desk)
            except Unclear as error:
                problem = _(
                    "{reason} It is unknown whether the assignment was rejected. Check again in a minute."
                ).format(reason=error)
            except (MarketplaceError, NotPossible) as refusal:
                problem = str(refusal)
        warning = _(
            "Rejected workers are not paid, and the rejection lowers their approval rate on Mechanical Turk, which "
            "limits the work they can get. Reject only work that was clearly not done. A failed attention check alone "
            "is not a sufficient reason."
        )
        return self.confirmation_page(
            request,
            assignment.hit.study,
            title=_("Reject an assignment"),
            back=desk,
            about=str(assignment),
            sentences=[warning, *_time_sentences(assignment)],
            form=form,
            problem=problem,
            button=_("Reject"),
            harmful=True,
        )

    def take_back(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Let a rejected assignment be paid after all."""
        assignment, desk = self._assignment_and_desk(request, object_id)
        problem = ""
        if request.method == "POST":
            try:
                deciding.take_back(
                    assignment,
                    user=request.user,
                    record=lambda: self.record_action(
                        request, assignment, Action.REJECTION_TAKEN_BACK, "Undid a rejection."
                    ),
                )
                message = _(
                    "Rejection undone: the payments that were written off are due again. To pay them, approve them on "
                    "the page “Pay”."
                )
                self.message_user(request, message, messages.SUCCESS)
                return HttpResponseRedirect(desk)
            except (MarketplaceError, NotPossible) as refusal:
                problem = str(refusal)
        consequence = _(
            "The payments that were written off become due again. When you approve them on the page “Pay”, Parley asks "
            "Mechanical Turk to approve the rejected assignment, which also corrects the worker's approval rate."
        )
        return self.confirmation_page(
            request,
            assignment.hit.study,
            title=_("Undo a rejection"),
            back=desk,
            about=str(assignment),
            sentences=[consequence, *_time_sentences(assignment)],
            problem=problem,
            button=_("Undo rejection"),
        )

    def _assignment_and_desk(self, request: HttpRequest, object_id: int) -> tuple[Assignment, str]:
        """Return an assignment whose rejection the user may decide or undo, and the address of its study's desk."""
        assignment: Assignment = self.seen(request, str(object_id), role=Role.OWNER)
        self.refuse_without_account(request, assignment.hit.account)
        return assignment, reverse("admin:mturk_hit_of_study", args=[assignment.hit.study_id])


def _time_sentences(assignment: Assignment) -> list[str]:
    """Return sentences that say when it was submitted and when mTurk will approve it automatically."""
    submitted = _("Submitted at {at} (UTC).").format(at=date_format(assignment.submitted_at, "Y-m-d H:i"))
    if assignment.status != Assignment.Status.SUBMITTED or assignment.auto_approval_at is None:
        return [submitted]
    until = date_format(assignment.auto_approval_at, "Y-m-d H:i")
    return [submitted, _("Mechanical Turk will approve it automatically at {until} (UTC).").format(until=until)]
