"""A study made anew from another: everything the same, but a draft that nobody has met."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser
from django.utils import timezone
from django.utils.translation import gettext as _

from studies.models import Study

OWN = {"id", "slug", "title", "status", "created_at", "created_by"}
"""What a copy does not take over."""


def copy(study: Study, *, by: AbstractBaseUser | None = None) -> Study:
    """A draft that is set up as `study` is now, under a short name that is still free; `study` stays as it is."""
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
    """`slug` with the first ending that makes it a short name nobody uses."""
    longest = Study._meta.get_field("slug").max_length or 50
    number = 1
    while True:
        ending = "-copy" if number == 1 else f"-copy-{number}"
        wanted = slug[: longest - len(ending)] + ending
        if not Study.objects.filter(slug=wanted).exists():
            return wanted
        number += 1
