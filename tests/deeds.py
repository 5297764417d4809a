"""What journeys do to a live stack's data; run inside it by `Stack.call`."""

from __future__ import annotations

from typing import Any

from matches.models import Event
from participants.models import Enrolment
from recruiters.models import LabCode
from studies.freezing import launch
from studies.models import Study


def launch_study(values: dict[str, Any]) -> str:
    """Make and launch a study; returns its short name."""
    study = Study(**values)
    study.save()
    launch(study)
    return study.slug


def lab_code(slug: str) -> str:
    """A new personal code for the study."""
    return LabCode.objects.create(study=slug).code


def moves(slug: str) -> list[str]:
    """The moves of the study's latest match, each as the name of its form or, for an answer, the decision."""
    made = Event.objects.filter(match__seats__enrolment__placement__cell__version__study__slug=slug, kind="move")
    return [event.data["move"].get("decision", "offer") for event in made.order_by("number")]


def completion_code(slug: str) -> str:
    """The code that the study's only participant was shown at the end."""
    return Enrolment.objects.get(placement__cell__version__study__slug=slug).completion_code
