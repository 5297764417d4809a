"""Copy a study: the same settings as a new draft."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone
from django.utils.translation import gettext as _

from studies.models import Study

OWN = {"id", "slug", "title", "status", "created_at", "created_by"}
"""Fields that a copy does not inherit."""


def copy(study: Study, *, by: AbstractBaseUser | None = None) -> Study:
    """Return a new draft with the current settings of `study` and a short name that is still free."""
    taken_over = {field.name: getattr(study, field.name) for field in Study._meta.fields if field.name not in OWN}
    longest = Study._meta.get_field("title").max_length
    return Study.objects.create(
        **taken_over,
        title=_("{title} (copy)").format(title=study.title)[:longest],
        slug=_free(study.slug),
        created_at=timezone.now(),
        created_by=by,
    )


def _free(slug: str) -> str:
    """Return `slug` with the first suffix that makes it unused."""
    longest = Study._meta.get_field("slug").max_length or 50
    number = 1
    while True:
        ending = "-copy" if number == 1 else f"-copy-{number}"
        wanted = slug[: longest - len(ending)] + ending
        if not Study.objects.filter(slug=wanted).exists():
            return wanted
        number += 1
