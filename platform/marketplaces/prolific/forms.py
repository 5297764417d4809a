"""The forms for offering a study on Prolific, adding places, and deciding about submissions."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminFileFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from games.errors import GameError
from llm_agents.errors import AgentError
from marketplaces.fields import MOST_PLACES, number, switch, text
from marketplaces.offers import listing_of, open_places
from marketplaces.prolific.filters import FiltersForm
from studies.forecast import minutes_of
from studies.models import Study, Version

LEAST_PERCENT, MOST_PERCENT = 8, 99
"""Limits of Prolific's dynamic payment in percent of the reward (from its command-line tool, read on 2026-11-22)."""
SHORTEST_REJECTION = 100
"""Minimum number of characters that Prolific requires in the reason for a rejection."""


class OfferForm(forms.Form):
    """A study as participants will see it on Prolific."""

    name = text(_("Name"), 120, _("Shown to participants."))
    description = text(
        _("Description"),
        5000,
        _("Participants read this before they start. Say what they will do and that they can earn a bonus."),
        rows=5,
    )
    places = number(_("Places"), 1, MOST_PLACES)
    minutes = number(
        _("Estimated minutes"),
        1,
        600,
        _("How long participants need from opening the link to the end. A pilot gives the best estimate."),
    )
    devices = forms.MultipleChoiceField(
        label=_("Devices"),
        choices=[("desktop", _("computer")), ("tablet", _("tablet")), ("mobile", _("phone"))],
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
    )
    project = forms.ChoiceField(
        label=_("Project on Prolific"),
        required=False,
        widget=UnfoldAdminSelectWidget(),
        help_text=_("The workspace of this project pays."),
    )
    requires_signature = switch(
        _("Accept only links signed by Prolific"),
        _("Signed links cannot be forged or changed. Leave this on if you can."),
    )
    screen_out = forms.DecimalField(
        label=_("Screen-out payment by Prolific"),
        required=False,
        min_value=Decimal("0.01"),
        max_digits=8,
        decimal_places=2,
        widget=UnfoldAdminTextInputWidget(attrs={"inputmode": "decimal"}),
        help_text=_(
            "A fixed amount below the reward, for at most as many participants as there are places. Not every "
            "workspace supports this. If empty, screened-out participants are asked to return their submission, or are "
            "paid by the study's own pay rule."
        ),
    )
    parts = switch(
        _("Allow partial payments (dynamic payment)"),
        _(
            "You can then pay participants who ended early without pay 8 to 99 percent of the reward, one person at a "
            "time. Not every workspace supports this: Prolific may refuse it when you create the draft."
        ),
    )
    by_treatment = switch(
        _("Separate address for each treatment (Taskflow)"),
        _(
            "Prolific distributes participants over the study's cells. Each cell has as many places as in Parley, and "
            "the number of places above does not apply. Without this option, Parley draws each participant's cell as "
            "the plan says."
        ),
    )

    def __init__(self, *args: Any, projects: list[tuple[str, str]], filters: Iterable[Any] = (), **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.filters = FiltersForm(self.data if self.is_bound else None, rows=filters)
        project = self.fields["project"]
        assert isinstance(project, forms.ChoiceField)
        project.choices = projects or [("", "–")]
        if len(projects) < 2:
            project.widget = forms.HiddenInput()

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.filters.is_valid():
            raise forms.ValidationError(_("Correct the filters that are open below."))
        return cleaned

    def offer(self) -> dict[str, Any]:
        """Return what was entered as arguments of `publishing.create`."""
        entered = {**self.cleaned_data, "filters": self.filters.selected()}
        own = {name: entered.pop(name) for name in ("name", "description", "places", "by_treatment")}
        return {**own, "terms": entered}


def suggestion(study: Study, version: Version) -> dict[str, Any]:
    """Return the initial values for a launched study."""
    try:
        minutes = minutes_of(version.reader) or 10
    except (GameError, AgentError):
        minutes = 10
    listing = listing_of(study, version)
    return {
        "name": listing.title,
        "description": listing.description,
        "places": max(1, open_places(version)),
        "minutes": minutes,
        "devices": ["desktop", "tablet", "mobile"],
        "requires_signature": True,
    }


class FlagsForm(forms.Form):
    flags = forms.FileField(
        label=_("Authenticity flags (CSV file)"), widget=UnfoldAdminFileFieldWidget(attrs={"accept": ".csv,text/csv"})
    )


class ReturnForm(forms.Form):
    """Form for the reasons why a participant should return their submission, as they will read them."""

    reasons = forms.MultipleChoiceField(
        label=_("Why?"),
        required=False,
        widget=UnfoldAdminCheckboxSelectMultipleWidget(),
        choices=[
            (reason, reason)
            for reason in (
                _("You did not finish the study."),
                _("There was a technical problem."),
                _("You withdrew your consent."),
                _("You did not enter a completion code."),
                _("You did not follow the instructions."),
            )
        ],
    )
    other = text(_("In your own words"), 300, _("The participant reads the whole text."), required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        entered = [*cleaned.get("reasons", []), cleaned.get("other", "")]
        reasons = [str(reason) for reason in entered if reason]
        if not self.errors and not reasons:
            self.add_error("reasons", _("Choose a reason or write your own."))
        return {"reasons": reasons}


class PartForm(forms.Form):
    """Form for a partial payment: a percentage of the reward, and a message to the participant."""

    percent = number(_("Percentage of the reward"), LEAST_PERCENT, MOST_PERCENT)
    message = text(_("Message to the participant"), 500, rows=3)


class RejectForm(forms.Form):
    """Form for rejecting a submission, with the category and message that Prolific requires."""

    category = forms.ChoiceField(
        label=_("Category"),
        widget=UnfoldAdminSelectWidget(),
        choices=[
            ("FAILED_CHECK", _("failed an attention check")),
            ("FAILED_INSTRUCTIONS", _("did not follow the instructions")),
            ("LOW_EFFORT", _("made little effort")),
            ("NO_CODE", _("did not enter a code")),
            ("BAD_CODE", _("entered a wrong code")),
            ("NO_DATA", _("submitted no data")),
            ("TOO_QUICKLY", _("was too quick")),
            ("TOO_SLOWLY", _("was too slow")),
            ("UNSUPP_DEVICE", _("used an unsupported device")),
            ("MALINGERING", _("was not honest")),
            ("OTHER", _("something else")),
        ],
    )
    reason = text(
        _("Message to the participant"),
        2000,
        _(
            "At least 100 characters: what the participant did, and which rule this broke. Prolific may ask you about "
            "it."
        ),
        rows=4,
        min_length=SHORTEST_REJECTION,
    )
    sure = switch(_("Reject this submission. It counts against the participant."), required=True)
