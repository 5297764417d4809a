"""Drafts of studies: saved, with every earlier one, so that two people can edit and nothing is lost; and copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from matches.models import Match
from pages.models import Media
from plans.plan import MAX_TITLE_LENGTH
from studies.models import Draft, Study


class Outdated(Exception):
    """Somebody saved since the edit that this one began from; `latest` is what they saved."""

    def __init__(self, study: Study):
        super().__init__(study.slug)
        self.study = study
        self.latest = study.drafts.select_related("by").order_by("-edit").first()


@transaction.atomic
def save(study: Study, document: Mapping[str, Any], *, edit: int, by: User | None = None) -> Study:
    """Save a draft that began from this edit, and return the study; the draft may have faults.

    Raises:
        Outdated: there is a later edit; nothing was saved.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if edit != study.edit:
        raise Outdated(study)
    if not study.drafts.exists():
        Draft.objects.create(
            study=study, edit=study.edit, document=study.draft, by=study.created_by, at=study.created_at
        )
    study.draft, study.edit = dict(document), study.edit + 1
    study.save(update_fields=["draft", "edit"])
    Draft.objects.create(study=study, edit=study.edit, document=study.draft, by=by)
    return study


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
