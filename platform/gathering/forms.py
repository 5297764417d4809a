"""What a researcher enters for a session."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from gathering.models import Attendance, Session
from plans.moments import moment_of, refuse_unknown_zone
from studies.times import told

MOST_PLACES = 5_000
_LONGEST_LABEL = Attendance._meta.get_field("label").max_length or 0


class SessionForm(forms.Form):
    """A session's start, places and seats; `cleaned_data` has the fields of `gathering.models.Session`.

    Args:
        changes: the session that is changed; None for a new one.
    """

    def __init__(self, *args: Any, changes: Session | None = None, **kwargs: Any) -> None:
        self.changes = changes
        super().__init__(*args, **kwargs)

    time_zone = forms.CharField(
        label=gettext_lazy("Time zone"),
        max_length=60,
        widget=UnfoldAdminTextInputWidget,
        help_text=gettext_lazy("A name such as Europe/Berlin. Participants read the start in it."),
    )
    starts_at = forms.CharField(
        label=gettext_lazy("Start"),
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"type": "datetime-local"}),
        help_text=gettext_lazy("Leave empty to start by hand only."),
    )
    places = forms.IntegerField(
        label=gettext_lazy("Places"),
        min_value=1,
        max_value=MOST_PLACES,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=gettext_lazy("Those who come when all are taken join a waiting list."),
    )
    grace = forms.IntegerField(
        label=gettext_lazy("Minutes of grace"),
        min_value=0,
        max_value=600,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text=gettext_lazy("How long after the start people may still come, if places are free."),
    )
    labels = forms.CharField(
        label=gettext_lazy("Seats"),
        required=False,
        max_length=100_000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text=gettext_lazy(
            "One label per line, such as PC 1, if people choose where they sit. Personal codes have their own labels."
        ),
    )

    def clean_time_zone(self) -> str:
        zone: str = self.cleaned_data["time_zone"]
        try:
            refuse_unknown_zone(zone)
        except ValueError as reason:
            raise forms.ValidationError(str(reason)) from None
        return zone

    def clean_starts_at(self) -> Any:
        text, zone = self.cleaned_data["starts_at"], self.cleaned_data.get("time_zone", "")
        if not text or not zone:
            return None
        try:
            moment = moment_of(text, zone)
        except ValueError as reason:
            raise forms.ValidationError(str(reason)) from None
        if moment <= timezone.now():
            raise forms.ValidationError(
                _("This time has passed: {when}. Choose a later one.").format(when=told(moment, zone))
            )
        return moment

    def clean_labels(self) -> list[str]:
        labels = [line.strip() for line in self.cleaned_data["labels"].splitlines() if line.strip()]
        for label in labels:
            if len(label) > _LONGEST_LABEL or not label.isprintable():
                raise forms.ValidationError(
                    _("“{label}” is too long: a label can have at most {most} characters.").format(
                        label=label[:_LONGEST_LABEL], most=_LONGEST_LABEL
                    )
                )
        if len(set(labels)) < len(labels):
            raise forms.ValidationError(_("Two seats have the same label."))
        here = self.changes.attendances.filter(left_at=None) if self.changes else Attendance.objects.none()
        taken = here.exclude(label="").exclude(label__in=labels).values_list("label", flat=True).first()
        if taken:
            raise forms.ValidationError(_("Somebody sits at “{label}”. Free the seat first.").format(label=taken))
        return labels

    def clean(self) -> dict[str, Any]:
        data: dict[str, Any] = super().clean() or self.cleaned_data
        if data.get("labels") and data.get("places", 0) > len(data["labels"]):
            self.add_error("places", _("There are more places than seats."))
        return data
