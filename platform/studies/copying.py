"""Copy a study: the same plan as a new draft, with its images and videos."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from matches.models import Match
from pages.models import Media
from plans.plan import MAX_TITLE_LENGTH
from studies.models import Study


@transaction.atomic
def copy(study: Study, *, by: User | None = None) -> Study:
    """Return a new draft with the current plan of `study` and a short name that is still free."""
    draft, title = dict(study.draft), study.title
    if study.purpose == Match.Purpose.SIMULATED:
        draft["purpose"] = Match.Purpose.STUDY.value
        title = title.removesuffix(" (simulated)")
    draft["title"] = _("{title} (copy)").format(title=title)[:MAX_TITLE_LENGTH]
    copied = Study.objects.create(draft=draft, slug=unused_slug(f"{study.slug}-copy"), created_by=by)
    for file in Media.objects.filter(study=study.slug):
        file.pk, file.study = None, copied.slug
        file.save()
    return copied


def unused_slug(slug: str) -> str:
    """Return `slug`, with the first number that makes it unused."""
    max_length = Study._meta.get_field("slug").max_length or 50
    number = 1
    while True:
        ending = "" if number == 1 else f"-{number}"
        candidate = slug[: max_length - len(ending)] + ending
        if not Study.objects.filter(slug=candidate).exists():
            return candidate
        number += 1
