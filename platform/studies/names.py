"""What refers to a study by its short name: links already shared, codes, server connections, pay limits, files."""

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
"""Models that refer to a study by its short name and make it final."""


def two_person_slug(slug: str) -> str:
    """Return the short name of the two-participant version of this demo."""
    return f"{slug}-together"


def rename(study: Study, slug: str) -> None:
    """Give a draft another short name; its images and videos follow.

    Raises:
        ValidationError: links, codes, servers or pay limits need the present name, or the new one is taken or invalid.
    """
    if study.versions.exists():
        raise ValidationError(_("The short name stays once the study is launched."))
    if any(model.objects.filter(study=study.slug).exists() for model in REFERRING_MODELS):
        raise ValidationError(_("Personal codes, an oTree server or a limit on pay already use this short name."))
    earlier, study.slug = study.slug, slug
    try:
        study.clean_fields(exclude=["draft"])
        study.validate_unique()
    except ValidationError as error:
        raise ValidationError(_("Short name: {reason}").format(reason=" ".join(error.messages))) from None
    study.save(update_fields=["slug"])
    Media.objects.filter(study=earlier).update(study=slug)


@receiver(post_delete, sender=Study)
def delete_references(sender: type[Study], instance: Study, **_signal: object) -> None:
    """Delete what referred to a deleted study, so that it cannot open a later study of the same name."""
    for model in (*REFERRING_MODELS, Media):
        model.objects.filter(study=instance.slug).delete()
