"""The forms for offering a study on Prolific, adding places, and deciding about submissions."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanWidget,
)

from games.errors import GameError
from llm_agents.errors import AgentError
from marketplaces.offers import listing_of
from marketplaces.prolific.deciding import LEAST_PERCENT, MOST_PERCENT
from marketplaces.prolific.filters import Filter, FiltersField
from marketplaces.prolific.publishing import Offer, open_places
from studies.forecast import minutes_of
from studies.models import Study

MOST_PLACES = 10_000
SHORTEST_REJECTION = 100
"""Minimum number of characters that Prolific requires in the reason for a rejection."""


class OfferForm(forms.Form):
    """A study as participants will see it on Prolific."""

    name = forms.CharField(
        label=_("Name"),
        max_length=120,
        widget=UnfoldAdminTextInputWidget(),
        help_text=_("Shown to participants."),
    )
    description = forms.CharField(
        label=_("Description"),
        max_length=5000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 5}),
        help_text=_("Participants read this before they start. Say what they will do and that they can earn a bonus."),
    )
    places = forms.IntegerField(
        label=_("Places"), min_value=1, max_value=MOST_PLACES, widget=UnfoldAdminIntegerFieldWidget()
    )
    minutes = forms.IntegerField(
        label=_("Estimated minutes"),
        min_value=1,
        max_value=600,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text=_("How long participants need from opening the link to the end. A pilot gives the best estimate."),
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
    requires_signature = forms.BooleanField(
        label=_("Accept only links signed by Prolific"),
        required=False,
        widget=UnfoldBooleanWidget(),
        help_text=_("Signed links cannot be forged or changed. Leave this on if you can."),
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
    parts = forms.BooleanField(
        label=_("Allow partial payments (dynamic payment)"),
        required=False,
        widget=UnfoldBooleanWidget(),
        help_text=_(
            "You can then pay participants who ended early without pay 8 to 99 percent of the reward, one person at a "
            "time. Not every workspace supports this: Prolific may refuse it when you create the draft."
        ),
    )
    by_treatment = forms.BooleanField(
        label=_("Separate address for each treatment (Taskflow)"),
        required=False,
        widget=UnfoldBooleanWidget(),
        help_text=_(
            "Prolific distributes participants over the study's cells. Each cell has as many places as in Parley, and "
            "the number of places above does not apply. Without this option, Parley assigns each participant to the "
            "emptiest cell."
        ),
    )
    filters = FiltersField(
        label=_("Who may take part"),
        required=False,
        help_text=_("Prolific's filters. Without any, everyone may take part."),
    )

    def __init__(self, *args: Any, projects: list[tuple[str, str]], filters: Sequence[Filter] = (), **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.fields["filters"].offer(filters)
        self.fields["project"].choices = projects or [("", "–")]
        if len(projects) < 2:
            self.fields["project"].widget = forms.HiddenInput()

    def offer(self) -> Offer:
        return Offer(**self.cleaned_data)


def suggestion(study: Study) -> dict[str, Any]:
    """Return the initial values for a launched study."""
    version = study.latest_version()
    assert version is not None
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


class PlacesForm(forms.Form):
    places = forms.IntegerField(
        label=_("Total places"), min_value=1, max_value=MOST_PLACES, widget=UnfoldAdminIntegerFieldWidget()
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
    other = forms.CharField(
        label=_("In your own words"),
        max_length=300,
        required=False,
        widget=UnfoldAdminTextInputWidget(),
        help_text=_("The participant reads the whole text."),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        entered = [*cleaned.get("reasons", []), cleaned.get("other", "")]
        reasons = [str(reason) for reason in entered if reason]
        if not self.errors and not reasons:
            self.add_error("reasons", _("Choose a reason or write your own."))
        return {"reasons": reasons}


class PartForm(forms.Form):
    """Form for a partial payment: a percentage of the reward, and a message to the participant."""

    percent = forms.IntegerField(
        label=_("Percentage of the reward"),
        min_value=LEAST_PERCENT,
        max_value=MOST_PERCENT,
        widget=UnfoldAdminIntegerFieldWidget(),
    )
    message = forms.CharField(
        label=_("Message to the participant"), max_length=500, widget=UnfoldAdminTextareaWidget(attrs={"rows": 3})
    )


class RejectForm(forms.Form):
    """Form for rejecting a submission, with the category and message that Prolific requires."""

    category = forms.ChoiceField(
        label=_("Reason"),
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
    message = forms.CharField(
        label=_("Message to the participant"),
        min_length=SHORTEST_REJECTION,
        max_length=2000,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 4}),
        help_text=_(
            "At least 100 characters: what the participant did, and which rule this broke. Prolific may ask you about "
            "it."
        ),
    )
    sure = forms.BooleanField(
        label=_("Reject this submission. It counts against the participant."), widget=UnfoldBooleanWidget()
    )
