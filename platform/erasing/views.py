"""The page on which an owner erases a participant on request."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldBooleanWidget

from erasing import services
from participants.models import Enrolment
from rights.admin import trail
from rights.parts import may, user_of, visible
from rights.roles import Role


class EraseForm(forms.Form):
    """The reason and the confirmation."""

    reason = forms.CharField(
        label=gettext_lazy("Why?"),
        max_length=500,
        help_text=gettext_lazy("Kept in the audit log. Do not name the participant."),
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
    )
    settled = forms.BooleanField(
        label=gettext_lazy("Amounts still owed are settled by other means, or will not be paid."),
        widget=UnfoldBooleanWidget(),
    )
    sure = forms.BooleanField(
        label=gettext_lazy("Erase this participant. This cannot be undone."), widget=UnfoldBooleanWidget()
    )

    def __init__(self, *arguments: Any, owes: bool, **options: Any):
        super().__init__(*arguments, **options)
        if not owes:
            del self.fields["settled"]


@never_cache
@staff_member_required
@require_http_methods(["GET", "POST"])
def erase(request: HttpRequest, enrolment: int) -> HttpResponse:
    """Show what will be deleted and what stays; erase on a confirmed POST with a reason."""
    person = get_object_or_404(visible(request.user, Enrolment.objects.all()), pk=enrolment)
    if not may(request.user, person, role=Role.OWNER):
        raise PermissionDenied
    back_to_profile = HttpResponseRedirect(reverse("admin:participants_enrolment_change", args=[person.pk]))
    owed = services.unsettled(person)
    form = EraseForm(request.POST if request.method == "POST" else None, owes=bool(owed))
    try:
        services.check_erasable(person)
        if form.is_bound and form.is_valid():
            services.erase(enrolment=person, by=user_of(request), reason=form.cleaned_data["reason"])
            messages.success(
                request, _("Erased: nothing on this server identifies {person} any more.").format(person=person)
            )
            return back_to_profile
    except services.NotPossible as reason:
        messages.error(request, str(reason))
        return back_to_profile
    context = {
        **admin.site.each_context(request),
        **trail(person, here=_("Erase")),
        "title": _("Erase {person}").format(person=person),
        "person": person,
        "owed": owed,
        "enrolments": len(services.enrolments_of(person)),
        "form": form,
    }
    return render(request, "admin/participants/enrolment/erase.html", context)
