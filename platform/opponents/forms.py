"""The endpoint form. A key can be entered but is never shown again, not even to the user who entered it."""

from __future__ import annotations

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_variables
from unfold.widgets import UnfoldAdminPasswordWidget, UnfoldAdminTextInputWidget, UnfoldBooleanSwitchWidget

from llm_agents.endpoints import PRESETS
from opponents import keys
from opponents.models import Endpoint
from opponents.price_field import PricesWidget
from opponents.uses import uses_of
from opponents.validators import completed_address

MAX_KEY_LENGTH = 1000
SENSITIVE_FIELDS = ("base_url", "key_variable")
"""Fields that people paste keys into by mistake: if one is invalid, its content is not shown again."""
TYPED_KEY = "typed key"
KEY_KEPT = gettext_lazy("Your key is kept until you save; you don't need to enter it again.")
ADDRESS_FIELDS = ("protocol", "base_url")


class EndpointForm(forms.ModelForm):
    """`new_key` and `forget_key` act on the stored key; leaving both empty keeps it."""

    new_key = forms.CharField(
        label=gettext_lazy("New key"),
        required=False,
        max_length=MAX_KEY_LENGTH,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
        help_text=gettext_lazy("Stored encrypted and never shown again. Leave empty to keep the stored key."),
    )
    forget_key = forms.BooleanField(
        label=gettext_lazy("Delete the stored key"), required=False, widget=UnfoldBooleanSwitchWidget()
    )

    session: MutableMapping[str, Any] | None = None
    """The session that holds an entered key, encrypted, while other fields are corrected; None to hold none."""

    class Meta:
        model = Endpoint
        exclude = ("sealed_key", "key_removed", "created_at")
        widgets = {"prices": PricesWidget()}

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        if self.is_bound and (typed := self.data.get(self.add_prefix("base_url"))):
            self._replace({"base_url": completed_address(typed.strip())})
        if self._pending_key:
            self.fields["new_key"].help_text = KEY_KEPT

    @sensitive_variables()
    def clean_new_key(self) -> str:
        key = self.cleaned_data["new_key"]
        if not re.fullmatch(r"[!-~]*", key):
            raise forms.ValidationError(_("A key contains no spaces and only ASCII characters. Paste it again."))
        return key or self._previously_typed()

    def clean_name(self) -> str:
        """Refuse a new name while studies or collections use the old one: they would not find the endpoint."""
        name: str = self.cleaned_data["name"]
        if self.instance.pk and "name" in self.changed_data and uses_of(self.initial["name"]):
            raise forms.ValidationError(
                _("Studies or collections use “{name}”. Change the title instead, or add another endpoint.").format(
                    name=self.initial["name"]
                )
            )
        return name

    @property
    def _pending_key(self) -> str:
        """Return the encrypted key that was entered for this endpoint when another field was invalid."""
        pending_key = (self.session or {}).get(TYPED_KEY) or {}
        return pending_key.get("key", "") if self.is_bound and pending_key.get("of") == self.instance.pk else ""

    @sensitive_variables()
    def _previously_typed(self) -> str:
        """Return the pending key, decrypted, unless the user is deleting the stored one."""
        if not self._pending_key or self.data.get(self.add_prefix("forget_key")):
            return ""
        return keys.unseal(self._pending_key) or ""

    @sensitive_variables()
    def _keep_typed(self) -> None:
        """Hold a valid key in the user's session while other fields are corrected."""
        if self.session is None:
            return
        self.session.pop(TYPED_KEY, None)
        if self.errors and (typed := self.cleaned_data.get("new_key")):
            self.session[TYPED_KEY] = {"of": self.instance.pk, "key": keys.seal(typed)}
            self["new_key"].help_text = KEY_KEPT

    @sensitive_variables()
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        new_key, forget = cleaned.get("new_key"), cleaned.get("forget_key")
        if new_key and forget:
            self.add_error("forget_key", _("Enter a new key or delete the stored one, not both."))
        keeps_key = bool(self.instance.sealed_key) and not new_key and not forget
        if keeps_key and any(name in self.changed_data for name in ADDRESS_FIELDS):
            self.add_error("new_key", _("The stored key belongs to the old address. Enter it again, or delete it."))
        return cleaned

    def _replace(self, entered: Mapping[str, str]) -> None:
        """Replace what was entered in these fields."""
        data: Any = self.data
        self.data = data = data.copy()
        for name, value in entered.items():
            data[self.add_prefix(name)] = value

    def full_clean(self) -> None:
        super().full_clean()
        invalid_names = [name for name in SENSITIVE_FIELDS if name in self.errors]
        if invalid_names:
            self._replace(dict.fromkeys(invalid_names, ""))
        if self.is_bound:
            self._keep_typed()

    @sensitive_variables()
    def save(self, commit: bool = True) -> Endpoint:
        if self.cleaned_data.get("new_key"):
            self.instance.keep_key(self.cleaned_data["new_key"])
        elif self.cleaned_data.get("forget_key"):
            self.instance.forget_key()
        return super().save(commit)


def preset_values(preset: str) -> dict[str, Any]:
    """Return a preset's initial values; empty if there is no such preset."""
    values = PRESETS.get(preset)
    if values is None:
        return {}
    names = ("name", "title", "protocol", "base_url", "key_variable", "structured", "tools", "concurrency")
    return {name: "" if getattr(values, name) is None else getattr(values, name) for name in names}


class TryForm(forms.Form):
    """The form for a test; it asks for the model."""

    model = forms.CharField(
        label=gettext_lazy("Model"), max_length=200, widget=UnfoldAdminTextInputWidget(attrs={"spellcheck": "false"})
    )
