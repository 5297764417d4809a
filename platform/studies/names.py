"""What refers to a study by its short name: links already shared, codes, server connections and pay limits."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.utils.translation import gettext as _

from pages.models import Media
from payouts.models import Limit
from recruiters.models import LabCode, OtreeServer
from studies.models import Study

REFERRING_MODELS = (LabCode, OtreeServer, Limit)
"""Models that refer to a study by its short name."""


def two_person_slug(slug: str) -> str:
    """Return the short name of the two-participant version of this demo."""
    return f"{slug}-together"


def is_referenced(study: Study) -> bool:
    """Return whether links, codes, servers or pay limits refer to the study by its short name."""
    return study.versions.exists() or any(model.objects.filter(study=study.slug).exists() for model in REFERRING_MODELS)


def rename(study: Study, slug: str) -> None:
    """Give a study another short name; its images and videos follow.

    Raises:
        ValidationError: something refers to the old name, or the new one is taken or not valid.
    """
    if is_referenced(study):
        raise ValidationError(_("The short name stays: links, codes, servers or limits already use it."))
    before, study.slug = study.slug, slug
    try:
        study.clean_fields(exclude=["draft"])
        study.validate_unique()
    except ValidationError as error:
        raise ValidationError(_("Short name: {reason}").format(reason=" ".join(error.messages))) from None
    study.save(update_fields=["slug"])
    Media.objects.filter(study=before).update(study=slug)


@receiver(post_delete, sender=Study)
def delete_references(sender: type[Study], instance: Study, **_signal: object) -> None:
    """Delete what referred to a deleted study, so that it cannot open a later study of the same name."""
    for model in (*REFERRING_MODELS, Media):
        model.objects.filter(study=instance.slug).delete()
