"""Forms for the panels' admin pages."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables
from unfold.widgets import UnfoldAdminFileFieldWidget, UnfoldAdminTextareaWidget, UnfoldBooleanSwitchWidget

from panels import presets
from panels.endings import Outcome
from panels.models import Panel
from recruiters.keys import read_keys
from rights.admin.secrets import secret_field

_SHORTEST_SECRET = 16
FIELDS = (
    "title", "person", "task", "session", "lasting", "check_by", "signature", "public_keys", "sites",
    *(f"to_{outcome}" for outcome in Outcome), "pays", "columns",
)  # fmt: skip


class PanelForm(forms.ModelForm):
    """Form for a panel; its secret is write-only."""

    new_secret = secret_field(
        gettext_lazy("Signing secret"),
        gettext_lazy("At least 16 characters, stored encrypted and never shown. Leave empty to keep the saved secret."),
    )

    class Meta:
        model = Panel
        fields = FIELDS
        widgets = {
            "public_keys": UnfoldAdminTextareaWidget(attrs={"rows": 3}),
            "sites": UnfoldAdminTextareaWidget(attrs={"rows": 2}),
            "columns": UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        preset = presets.get(self.instance.preset or str(self.initial.get("preset", "")))
        for outcome in Outcome:
            name = f"to_{outcome}"
            if name in self.fields:
                default_hint = _(
                    "An address on the panel's site, or a code to copy. Leave empty to show Parley's own text and "
                    "completion code."
                )
                self.fields[name].label = outcome.label.capitalize()
                self.fields[name].help_text = _(preset.hints[outcome]) if outcome in preset.hints else default_hint

    @sensitive_variables()
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        check, secret = cleaned.get("check_by"), cleaned.get("new_secret", "")
        if secret and len(secret) < _SHORTEST_SECRET:
            self.add_error("new_secret", _("Use at least 16 characters: a shorter secret could be guessed."))
        if check == Panel.Check.SIGNED and not secret and not self.instance.sealed_secret:
            self.add_error("new_secret", _("Signed links require a secret."))
        if check == Panel.Check.TOKEN and not read_keys(cleaned.get("public_keys", "")):
            message = _("No RSA key of at least 2,048 bits found. Paste PEM text or a JSON Web Key Set.")
            self.add_error("public_keys", message)
        return cleaned


class PaymentReportForm(forms.Form):
    """Form for uploading a record of which payments of a list were made."""

    paid = forms.FileField(
        label=gettext_lazy("Payments made (CSV file)"),
        widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,text/csv"}),
    )
    rest_failed = forms.BooleanField(
        label=gettext_lazy("Participants who are not in the file were not paid"),
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text=gettext_lazy(
            "Their payments can then be approved again. Otherwise the payments stay open on this list."
        ),
    )


class WithdrawListForm(forms.Form):
    why = forms.CharField(
        label=gettext_lazy("How do you know that these payments were not made?"),
        max_length=200,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2}),
    )
