"""API tokens in the admin: create, show once, list and revoke."""

from __future__ import annotations

from datetime import timedelta
from functools import partialmethod
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST
from unfold.decorators import display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminSelectWidget

from api import tokens
from api.models import Scope, Token
from audit.actions import Action
from rights import parts
from rights.admin import PartAdmin
from rights.roles import Role
from studies.admin.records import StudyFilter
from studies.models import Study

LIFETIMES = ((7, gettext_lazy("a week")), (90, gettext_lazy("90 days")), (365, gettext_lazy("a year")))
STATE_COLOURS = {"valid": "success", "expired": "warning", "revoked": "danger"}


class TokenForm(forms.ModelForm):
    """The form for a new token: study, program, scopes and lifetime."""

    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("It may"), choices=Scope.choices, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )
    days = forms.TypedChoiceField(
        label=gettext_lazy("Valid for"), choices=LIFETIMES, coerce=int, initial=90, widget=UnfoldAdminSelectWidget
    )

    class Meta:
        model = Token
        fields = ("study", "name")

    def __init__(self, *args: Any, studies: QuerySet[Study], **kwargs: Any):
        super().__init__(*args, **kwargs)
        study = self.fields["study"]
        assert isinstance(study, forms.ModelChoiceField)
        study.queryset = studies


class TokenOfStudy(StudyFilter):
    lookup = "study"


@admin.register(Token)
class TokenAdmin(PartAdmin):
    sees = changes = Role.OWNER
    list_display = ["name", "study", "state", "scopes_label", "created_by", "last_used_at", "expires_at"]
    list_filter = [TokenOfStudy]
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
        if obj is not None:
            return super().get_form(request, obj, change=change, **kwargs)
        form = super().get_form(request, obj, change=change, **{**kwargs, "form": TokenForm, "fields": None})
        studies = parts.visible(request.user, Study.objects.order_by("draft__title"), role=Role.OWNER)
        return type("TokenForm", (form,), {"__init__": partialmethod(form.__init__, studies=studies)})

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
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Token “{name}” created").format(name=obj.name),
            "notice": _(
                "Copy the token now: it is not stored and will not be shown again. Anyone who has it can use its "
                "permissions, so keep it as secret as a password."
            ),
            "secret": vars(request)["issued_secret"],
            "command": f'curl -H "Authorization: Bearer TOKEN" {request.build_absolute_uri("/api/v1/")}studies',
            "back": reverse("admin:api_token_changelist"),
            "back_title": _("All tokens"),
        }
        response = TemplateResponse(request, "admin/parley_secret.html", context)
        response["Cache-Control"] = "no-store"
        return response

    # ---- permissions and revoking --------------------------------------------------------------------

    def changeform_view(
        self, request: HttpRequest, object_id: str | None = None, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        token = self.get_object(request, object_id) if object_id else None
        context = {"show_save_and_add_another": False, "show_save_and_continue": False, **(extra_context or {})}
        if token is not None:
            may_change = self._allowed(request, token, Role.OWNER)
            expired = token.revoked_at is None and token.expired()
            context |= {
                "token": token,
                "may_revoke": may_change and token.revoked_at is None,
                "expired": expired,
                "show_save": False,
            }
        return super().changeform_view(request, object_id, form_url, context)

    def has_delete_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        """Return False: tokens are revoked, not deleted, so that the history can name them."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        """Return False for a single token: tokens cannot be edited, but owners may revoke them."""
        return obj is None and super().has_change_permission(request, obj)

    def get_urls(self) -> list[URLPattern]:
        revoke = path(
            "<path:object_id>/revoke/",
            self.admin_site.admin_view(require_POST(self.revoke)),
            name="api_token_revoke",
        )
        return [revoke, *super().get_urls()]

    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Revoke the token."""
        token = self.seen(request, object_id, role=Role.OWNER)
        with transaction.atomic():
            if tokens.revoke(token):
                self.record_action(request, token, Action.REVOKED, "Revoked.")
        message = _("“{name}” has been revoked.").format(name=token.name)
        self.message_user(request, message, messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:api_token_change", args=[token.pk]))
