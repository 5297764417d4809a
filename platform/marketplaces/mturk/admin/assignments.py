"""Submitted assignments: read by members, rejected by owners."""

from __future__ import annotations

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display

from audit.deeds import Deed
from marketplaces.kinds import Trouble
from marketplaces.mturk import deciding
from marketplaces.mturk.errors import Unclear
from marketplaces.mturk.models import Assignment
from marketplaces.mturk.publishing import NotPossible
from participants.admin import ReadOnlyAdmin
from rights import parts
from rights.roles import Role

COLOURS = {
    Assignment.Status.SUBMITTED: "warning",
    Assignment.Status.APPROVED: "success",
    Assignment.Status.REJECTED: "danger",
}


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    list_display = ["submitted_at", "hit", "who", "standing", "auto_approval_at"]
    list_select_related = ["hit", "identity__enrolment"]
    list_filter = ["status", "whose"]
    fields = ["hit", "who", "standing", "submitted_at", "auto_approval_at"]
    readonly_fields = fields

    @display(description=gettext_lazy("participant"))
    def who(self, assignment: Assignment) -> str:
        return str(assignment)

    @display(description=gettext_lazy("status"), ordering="status", label=COLOURS)
    def standing(self, assignment: Assignment) -> tuple[str, str]:
        return assignment.status, assignment.get_status_display()

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.reject)
        return [path("<int:object_id>/reject/", view, name="mturk_assignment_reject"), *super().get_urls()]

    def reject(self, request: HttpRequest, object_id: int) -> HttpResponse:
        """Refuse the reward: asked first, with a reason that the worker reads."""
        assignment: Assignment = self.seen(request, str(object_id), role=Role.OWNER)
        if not parts.may(request.user, assignment.hit.account, role=Role.EDITOR):
            raise PermissionDenied
        desk = reverse("admin:mturk_hit_of_study", args=[assignment.hit.study_id])
        reason, problem = request.POST.get("reason", "").replace("\x00", ""), ""
        if request.method == "POST":
            try:
                deciding.refuse_reason(reason)
                self.record_deed(
                    request, assignment, Deed.REJECTED, "Asked Mechanical Turk to reject.", {"reason": reason.strip()}
                )
                deciding.reject(assignment, reason=reason, who=request.user)
                self.message_user(request, _("Rejected. The worker is told why."), messages.SUCCESS)
                return HttpResponseRedirect(desk)
            except Unclear as trouble:
                problem = _("{reason} It is not known whether it is rejected; look again in a minute.").format(
                    reason=trouble
                )
            except (Trouble, NotPossible) as refusal:
                problem = str(refusal)
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Reject an assignment"),
            "assignment": assignment,
            "desk": desk,
            "problem": problem,
            "reason": reason,
            "least": deciding.SHORTEST_REASON,
            "most": deciding.LONGEST_REASON,
        }
        return TemplateResponse(request, "admin/mturk/reject.html", context, headers={"Cache-Control": "no-store"})
