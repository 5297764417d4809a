"""Copy a study: the same settings as a new draft."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone
from django.utils.translation import gettext as _

from matches.models import Match
from studies.models import Study

NOT_COPIED = {"id", "slug", "title", "status", "created_at", "created_by"}
"""Fields that a copy does not inherit."""


def copy(study: Study, *, by: AbstractBaseUser | None = None) -> Study:
    """Return a new draft with the current settings of `study` and a short name that is still free."""
    copied = {field.name: getattr(study, field.name) for field in Study._meta.fields if field.name not in NOT_COPIED}
    title = study.title
    if study.purpose == Match.Purpose.SIMULATED:
        copied["purpose"] = Match.Purpose.STUDY
        title = title.removesuffix(" (simulated)")
    max_length = Study._meta.get_field("title").max_length
    return Study.objects.create(
        **copied,
        title=_("{title} (copy)").format(title=title)[:max_length],
        slug=_unused_slug(study.slug),
        created_at=timezone.now(),
        created_by=by,
    )


def _unused_slug(slug: str) -> str:
    """Return `slug` with the first suffix that makes it unused."""
    max_length = Study._meta.get_field("slug").max_length or 50
    number = 1
    while True:
        ending = "-copy" if number == 1 else f"-copy-{number}"
        candidate = slug[: max_length - len(ending)] + ending
        if not Study.objects.filter(slug=candidate).exists():
            return candidate
        number += 1
