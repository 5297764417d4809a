"""The addresses that are told of alerts, in the admin."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import HttpRequest
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from unfold.decorators import display
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget, UnfoldAdminTextInputWidget

from notifying.finding import Found, record
from notifying.models import SET_UP, Kind, Recipient
from notifying.sending import key_of
from outgoing.addresses import is_local_host
from rights.roles import Role
from studies.admin.records import OfStudyAdmin, by_study


class RecipientForm(forms.ModelForm):
    """An address and what it is told of; the signing secret can be set but is never shown."""

    kinds = forms.MultipleChoiceField(
        label=gettext_lazy("Tell it when"), choices=Kind.choices, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )
    new_secret = forms.CharField(
        label=gettext_lazy("Signing secret of a webhook"),
        required=False,
        min_length=24,
        max_length=200,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text=gettext_lazy(
            "With a secret, every request has the header webhook-signature of Standard Webhooks: an HMAC-SHA256 of its "
            "ID, time and body. Leave empty to keep the present one."
        ),
    )

    class Meta:
        model = Recipient
        fields = ("study", "address", "kinds", "absence_percent")

    def clean_new_secret(self) -> str:
        secret: str = self.cleaned_data["new_secret"].strip()
        try:
            key_of(secret)
        except ValueError:
            raise ValidationError(_("What follows “whsec_” is not base64.")) from None
        return secret

    def clean_address(self) -> str:
        address: str = self.cleaned_data["address"].strip()
        if "://" not in address:
            validate_email(address)
            return address
        try:
            parts = urlsplit(address)
            host, _port = parts.hostname or "", parts.port
        except ValueError:
            host, parts = "", urlsplit("")
        secure = parts.scheme == "https" or (parts.scheme == "http" and is_local_host(host))
        if not host or not secure or parts.username or parts.password or parts.fragment:
            raise ValidationError(_("A webhook begins with https:// and has no user name, password or fragment."))
        return address


@admin.register(Recipient)
class RecipientAdmin(OfStudyAdmin):
    sees = changes = deletes = Role.EDITOR
    form = RecipientForm
    list_display = ["address", "study", "told_of", "arrives", "problem"]
    list_filter = [by_study("study")]
    list_select_related = ["study"]
    actions = None
    view_on_site = False
    readonly_fields = ["problem", "problem_at"]
    fields = ["study", "address", "kinds", "absence_percent", "new_secret"]

    @display(description=gettext_lazy("when"))
    def told_of(self, recipient: Recipient) -> str:
        return "; ".join(str(label) for kind, label in Kind.choices if kind in recipient.kinds)

    @display(description=gettext_lazy("arrives"), boolean=True)
    def arrives(self, recipient: Recipient) -> bool | None:
        return False if recipient.problem else True if recipient.told.exists() else None

    def get_fields(self, request: HttpRequest, obj: Recipient | None = None) -> Any:
        return [*(["problem", "problem_at"] if obj and obj.problem else []), *self.fields]

    @method_decorator(sensitive_post_parameters("new_secret"))
    def changeform_view(self, request: HttpRequest, *arguments: Any, **options: Any) -> Any:
        return super().changeform_view(request, *arguments, **options)

    @sensitive_variables("secret")
    def save_model(self, request: HttpRequest, obj: Recipient, form: Any, change: bool) -> None:
        """Save the address and send it a first notice, so that it is seen at once whether it arrives."""
        if secret := form.cleaned_data.get("new_secret"):
            obj.keep_secret(secret)
        if obj.problem or form.has_changed():
            obj.start_again()
        super().save_model(request, obj, form, change)
        if not change or "address" in form.changed_data:
            obj.told.set([])
            obj.study.alerts.filter(kind=SET_UP, subject=str(obj.pk)).delete()
            record(obj.study, [Found(SET_UP, str(obj.pk))])
