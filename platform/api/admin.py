"""API tokens in the admin: create, show once, list and revoke."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import admin
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.decorators import display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminSelectWidget

from api import tokens
from api.models import Scope, Token
from audit.actions import Action
from rights import parts
from rights.admin import NO_STORE, at
from rights.roles import Role
from studies.admin.records import OfStudyAdmin, by_study

LIFETIMES = ((7, gettext_lazy("a week")), (90, gettext_lazy("90 days")), (365, gettext_lazy("a year")))
STATE_COLOURS = {"valid": "success", "expired": "warning", "revoked": "danger"}


class TokenForm(forms.ModelForm):
    """The form for a new token."""

    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("It may"), choices=Scope.choices, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )
    days = forms.TypedChoiceField(
        label=gettext_lazy("Valid for"), choices=LIFETIMES, coerce=int, initial=90, widget=UnfoldAdminSelectWidget
    )

    class Meta:
        model = Token
        fields = ("study", "name")


@admin.register(Token)
class TokenAdmin(OfStudyAdmin):
    sees = changes = Role.OWNER
    list_display = ["name", "study", "state", "scopes_label", "created_by", "last_used_at", "expires_at"]
    list_filter = [by_study("study")]
    list_select_related = ["study", "created_by"]
    search_fields = ["name", "key", "study__slug", "study__draft__title"]
    change_form_outer_before_template = "admin/api/token/status.html"
    list_fullwidth = True
    actions = None
    view_on_site = False

    @display(description=gettext_lazy("state"), label=STATE_COLOURS)
    def state(self, token: Token) -> tuple[str, str]:
        if token.revoked_at is not None:
            return "revoked", _("revoked")
        return ("expired", _("expired")) if token.expired() else ("valid", _("valid"))

    @display(description=gettext_lazy("scopes"))
    def scopes_label(self, token: Token) -> str:
        return "; ".join(str(Scope(scope).label) for scope in token.scopes)

    # ---- creating a token ----------------------------------------------------------------------------------

    def get_form(self, request: HttpRequest, obj: Token | None = None, change: bool = False, **kwargs: Any) -> Any:
        options = {**kwargs, "form": TokenForm, "fields": None} if obj is None else kwargs
        return super().get_form(request, obj, change=change, **options)

    def get_fieldsets(self, request: HttpRequest, obj: Token | None = None) -> Any:
        if obj is None:
            return [(None, {"fields": ["study", "name", "scopes", "days"]})]
        fields = ["study", "name", "key", "scopes_label", "created_by", "created_at", "last_used_at", "expires_at"]
        return [(None, {"fields": [*fields, "revoked_at"] if obj.revoked_at else fields})]

    def get_readonly_fields(self, request: HttpRequest, obj: Token | None = None) -> Any:
        return self.get_fieldsets(request, obj)[0][1]["fields"] if obj else ()

    def save_model(self, request: HttpRequest, obj: Token, form: Any, change: bool) -> None:
        if change:
            return
        days = timedelta(days=form.cleaned_data["days"])
        token, vars(request)["issued_secret"] = tokens.issue(
            study=obj.study,
            name=obj.name,
            scopes=form.cleaned_data["scopes"],
            expires_at=timezone.now() + days,
            by=parts.user_of(request),
        )
        obj.pk = token.pk

    def response_add(self, request: HttpRequest, obj: Token, post_url_continue: str | None = None) -> HttpResponse:
        """Return the only page that shows the secret; no message, session or URL contains it."""
        context = {
            "notice": _(
                "Copy the token now: it is not stored and will not be shown again. Anyone who has it can use its "
                "permissions, so keep it as secret as a password."
            ),
            "secret": vars(request)["issued_secret"],
            "command": f'curl -H "Authorization: Bearer TOKEN" {request.build_absolute_uri("/api/v1/")}studies',
            "back": self.url_of("changelist"),
            "back_title": _("All tokens"),
        }
        title = _("Token “{name}” created").format(name=obj.name)
        return self.page(request, "admin/parley_secret.html", title, context, headers=NO_STORE)

    # ---- permissions and revoking --------------------------------------------------------------------

    def form_context(self, request: HttpRequest, obj: Token | None) -> dict[str, Any]:
        context = {"show_save_and_add_another": False, "show_save_and_continue": False}
        if obj is None:
            return context
        valid = obj.revoked_at is None
        may_revoke = valid and self._allowed(request, obj, Role.OWNER)
        shown = {"token": obj, "may_revoke": may_revoke, "expired": valid and obj.expired(), "show_save": False}
        return {**context, **shown}

    def has_delete_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        """Return False: tokens are revoked, not deleted, so that the history can name them."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        """Return False for a single token: tokens cannot be edited, but owners may revoke them."""
        return obj is None and super().has_change_permission(request, obj)

    @at("<path:object_id>/revoke/", "POST")
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Revoke the token."""
        token = self.seen(request, object_id, role=Role.OWNER)
        with transaction.atomic():
            if tokens.revoke(token):
                self.record_action(request, token, Action.REVOKED, "Revoked.")
        message = _("“{name}” has been revoked.").format(name=token.name)
        return self.leave_to(request, self.url_of("change", token.pk), message)
