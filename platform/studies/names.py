"""What refers to a study by its short name: links already shared, codes, server connections, pay limits, files."""

from __future__ import annotations

from django.db.models.signals import post_delete
from django.dispatch import receiver

from pages.models import Media
from payouts.models import Limit
from recruiters.models import LabCode, OtreeServer
from studies.models import Study

REFERRING_MODELS = (LabCode, OtreeServer, Limit, Media)
"""Models that refer to a study by its short name."""


def two_person_slug(slug: str) -> str:
    """Return the short name of the two-participant version of this demo."""
    return f"{slug}-together"


def is_referenced(study: Study) -> bool:
    """Return whether links, codes, servers, pay limits or files refer to the study by its short name."""
    return study.versions.exists() or any(model.objects.filter(study=study.slug).exists() for model in REFERRING_MODELS)


@receiver(post_delete, sender=Study)
def delete_references(sender: type[Study], instance: Study, **_signal: object) -> None:
    """Delete what referred to a deleted study, so that it cannot open a later study of the same name."""
    for model in REFERRING_MODELS:
        model.objects.filter(study=instance.slug).delete()
