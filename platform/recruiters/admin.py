"""Participants' identities at their recruiters (administrators only, read-only), and the oTree servers."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget

from participants.admin import ReadOnlyAdmin
from recruiters import otree
from recruiters.models import Delivery, Identity, OtreeServer
from rights import parts
from rights.admin import NO_STORE, PartAdmin
from rights.admin.secrets import secret_field
from rights.roles import Role


@admin.register(Identity)
class IdentityAdmin(ReadOnlyAdmin):
    list_display = ["enrolment", "study", "recruiter"]
    list_filter = ["recruiter", "study"]
    list_select_related = ["enrolment"]
    search_fields = ["worker", "enrolment__pseudonym"]
    fields = ["enrolment", "study", "recruiter", "worker"]

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)


class OtreeServerForm(forms.ModelForm):
    """Settings of an oTree server. The form takes the key but never shows it."""

    new_rest_key = secret_field(
        gettext_lazy("REST API key"),
        gettext_lazy(
            "The server's OTREE_REST_KEY. With it, Parley sends results as soon as a game ends; without it, oTree "
            "requests them. The key is stored encrypted and never shown. Leave empty to keep the stored key."
        ),
    )

    class Meta:
        model = OtreeServer
        fields = ("study", "addresses")

    @sensitive_variables()
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        has_stored_key = bool(self.instance.sealed_rest_key) and not cleaned.get("new_rest_key")
        if has_stored_key and "addresses" in self.changed_data:
            self.add_error("new_rest_key", _("The stored key belongs to the old addresses. Please enter it again."))
        return cleaned


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    """Results to be sent to oTree, and why a delivery failed."""

    list_display = ["enrolment", "state", "attempts", "problem", "since", "next_at"]
    list_filter = ["state"]
    list_select_related = ["enrolment"]


@admin.register(OtreeServer)
@method_decorator(sensitive_post_parameters("new_rest_key"), name="changeform_view")
class OtreeServerAdmin(PartAdmin):
    """The oTree server that sends participants to a study. Deleting and re-adding it creates a new key."""

    sees = changes = deletes = Role.OWNER
    form = OtreeServerForm
    list_display = ["study", "addresses", "sends"]
    actions = None
    view_on_site = False

    @display(description=gettext_lazy("results are sent"), boolean=True)
    def sends(self, server: OtreeServer) -> bool:
        return bool(server.sealed_rest_key)

    @sensitive_variables()
    def save_model(self, request: HttpRequest, obj: OtreeServer, form: Any, change: bool) -> None:
        if key := form.cleaned_data.get("new_rest_key"):
            obj.keep_rest_key(key)
        super().save_model(request, obj, form, change)

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer only studies that the user owns."""
        if db_field.name != "study":
            return super().formfield_for_dbfield(db_field, request, **kwargs)
        own_servers = parts.possible_parents(request.user, OtreeServer, role=Role.OWNER)
        choices = [("", "–"), *((slug, f"{study} ({slug})") for slug, study in own_servers)]
        return forms.ChoiceField(label=gettext_lazy("Study"), choices=choices, widget=UnfoldAdminSelectWidget)

    def get_readonly_fields(self, request: HttpRequest, obj: OtreeServer | None = None) -> list[str]:
        """Make the study read-only once saved, because the key depends on it."""
        return ["study"] if obj else []

    def response_add(
        self, request: HttpRequest, obj: OtreeServer, post_url_continue: str | None = None
    ) -> HttpResponse:
        """Return the only page that shows the key, which is in no message, session or URL."""
        site = request.build_absolute_uri("/").rstrip("/")
        context = {
            "settings": {
                "PARLEY_URL": site,
                "PARLEY_LINK_KEYS": f"{obj.study}:{otree.link_key(obj)}",
                "OTREE_URL": obj.allowed()[0],
                "OTREE_AUTH_LEVEL": "STUDY",
            },
            "list": self.url_of("changelist"),
        }
        title = _("Settings for oTree")
        return self.page(request, "admin/recruiters/otreeserver/made.html", title, context, headers=NO_STORE)
