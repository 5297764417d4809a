"""Forms for tasks on Mechanical Turk."""

from __future__ import annotations

import re
import uuid
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from marketplaces.fields import MOST_PLACES, number, switch, text
from marketplaces.mturk.terms import Status, Terms, tasks
from marketplaces.offers import listing_of, open_places
from studies.models import Study, Version


class TaskForm(forms.Form):
    """Form for publishing a task. It has no field for the reward, which is the study's base pay."""

    token = forms.UUIDField(widget=forms.HiddenInput)
    name = text(_("Title"), 128, _("Shown in the list of tasks. Say what workers will do and how long it takes."))
    description = text(
        _("Description"),
        2000,
        _("Mention that workers can earn a bonus and that the task is an experiment."),
        rows=3,
    )
    keywords = text(_("Keywords"), 1000, _("Comma-separated."), required=False)
    places = number(
        _("Assignments"),
        1,
        MOST_PLACES,
        _(
            "How many people can do the task. With 10 or more assignments, Mechanical Turk charges 40% of the rewards "
            "instead of 20%."
        ),
    )
    days = number(_("Available for (days)"), 1, 30)
    minutes = number(
        _("Time limit (minutes)"),
        5,
        24 * 60,
        _("From accepting the task to submitting it. At least the study's own time limit."),
    )
    approval_days = number(
        _("Automatic approval after (days)"),
        1,
        30,
        _("From submission. Mechanical Turk then approves and pays every assignment that you have not decided."),
    )
    approved_percent = number(
        _("Minimum approval rate (percent)"), 0, 100, _("Leave empty for no minimum."), required=False
    )
    approved_number = number(
        _("Minimum number of approved tasks"), 0, 100_000, _("Leave empty for no minimum."), required=False
    )
    countries = text(
        _("Countries"),
        200,
        _("Two-letter codes, comma-separated, such as US, GB. Leave empty for any country."),
        required=False,
    )
    hides_from_unrested = switch(_("Hide from recent participants"))

    def __init__(self, *args: Any, study: Study, version: Version, **kwargs: Any):
        super().__init__(*args, **kwargs)
        too_short = gettext(
            "The study itself allows {minutes} minutes. With a shorter limit, workers could not submit in time."
        ).format(minutes=version.plan.minutes)
        self.fields["minutes"].validators.append(MinValueValidator(version.plan.minutes, too_short))
        self._rest_hours = study.entry_rules().rest_hours
        if self._rest_hours:
            self.fields["hides_from_unrested"].help_text = gettext(
                "The study requires {hours} hours between two plays of this game. Mechanical Turk then hides the task "
                "from workers who played more recently. The study refuses them in any case."
            ).format(hours=self._rest_hours)
        else:
            del self.fields["hides_from_unrested"]

    def clean_countries(self) -> list[str]:
        codes = [code.strip().upper() for code in self.cleaned_data["countries"].split(",") if code.strip()]
        invalid = [code for code in codes if not re.fullmatch(r"[A-Z]{2}", code)]
        if invalid:
            raise ValidationError(gettext("Country codes have two letters: {wrong}.").format(wrong=", ".join(invalid)))
        return list(dict.fromkeys(codes))

    def offer(self) -> dict[str, Any]:
        """Return the requested task as arguments of `publishing.create`."""
        terms = dict(self.cleaned_data)
        terms["rest_hours"] = self._rest_hours if terms.pop("hides_from_unrested", False) else 0
        return {**{name: terms.pop(name) for name in ("token", "name", "description", "places")}, "terms": terms}


def suggestion(study: Study, version: Version) -> dict[str, Any]:
    """Return the initial values: those of the last draft, if there is one."""
    if (draft := tasks(study=study, status=Status.DRAFT).first()) is not None:
        terms: Terms = draft.terms
        own = {"token": draft.reference, **{name: getattr(draft, name) for name in ("name", "description", "places")}}
        countries, hides = ", ".join(terms.countries), bool(terms.rest_hours)
        return {**own, **terms.model_dump(), "countries": countries, "hides_from_unrested": hides}
    listing = listing_of(study, version)
    ended = [Status.REFUSED, Status.DISPOSED]
    offered = sum(task.terms.available for task in tasks(study=study).exclude(status__in=ended))
    return {
        "token": uuid.uuid4(), "name": listing.title, "description": listing.description,
        "keywords": gettext("experiment, study, game, bonus"), "places": max(1, open_places(version) - offered),
        "days": 3, "minutes": version.plan.minutes, "approval_days": 3, "approved_percent": 95, "approved_number": 100,
        "hides_from_unrested": True,
    }  # fmt: skip


class ProlongForm(forms.Form):
    """Form for the number of hours for which a task stays available from now on."""

    hours = number(_("Hours from now"), 1, 30 * 24)
