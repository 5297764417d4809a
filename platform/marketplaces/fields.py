"""Fields of the forms on marketplaces' pages, in the admin's look."""

from __future__ import annotations

from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

MOST_PLACES = 10_000


def number(label: Any, least: int, most: int, help_text: Any = "", *, required: bool = True) -> forms.IntegerField:
    widget = UnfoldAdminIntegerFieldWidget(attrs={"min": least, "max": most})
    return forms.IntegerField(
        label=label, min_value=least, max_value=most, required=required, help_text=help_text, widget=widget
    )


def text(label: Any, longest: int, help_text: Any = "", *, rows: int = 0, **options: Any) -> forms.CharField:
    """Return a field for text in one line, or in `rows` lines."""
    widget = UnfoldAdminTextareaWidget(attrs={"rows": rows}) if rows else UnfoldAdminTextInputWidget()
    return forms.CharField(label=label, max_length=longest, help_text=help_text, widget=widget, **options)


def switch(label: Any, help_text: Any = "", *, required: bool = False) -> forms.BooleanField:
    return forms.BooleanField(label=label, help_text=help_text, required=required, widget=UnfoldBooleanSwitchWidget())
