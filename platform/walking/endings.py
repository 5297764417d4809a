"""What the last page of a walk shows, and the factors that its conditions name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.dispatch import receiver

from participants.models import Enrolment
from participants.signals import enrolment_ended
from participants.values import register_values
from piloting.earnings import show_pay
from studies.journeys import variables_of
from walking.models import Walk


@receiver(enrolment_ended)
def show_ending(sender: type[Enrolment], enrolment: Enrolment, **_signal: Any) -> None:
    """Show what this ending would pay, if the enrolment is a walk's."""
    if (walk := _walk_of(enrolment)) is not None:
        show_pay(enrolment, walk.planned_cell)


@register_values
def factors_of(enrolment: Enrolment) -> Mapping[str, Any]:
    """Return the factors of a walk's cell, as conditions see them."""
    if (walk := _walk_of(enrolment)) is None:
        return {}
    cell = walk.planned_cell
    return {**variables_of(cell.version.reader, cell.factors), "recruiter": {}}


def _walk_of(enrolment: Enrolment) -> Walk | None:
    return Walk.objects.select_related("study").filter(enrolment=enrolment).first()
