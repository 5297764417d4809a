"""The field in which a secret is entered: it never shows one, and left empty it keeps the stored one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminPasswordWidget


def secret_field(label: Any, help_text: Any, *, longest: int = 200) -> forms.CharField:
    """Return the field; secrets are of visible ASCII characters."""
    return forms.CharField(
        label=label,
        required=False,
        max_length=longest,
        validators=[RegexValidator(r"^[!-~]*$", _("Use only ASCII characters, without spaces."))],
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "new-password"}),
        help_text=help_text,
    )
