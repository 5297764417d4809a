"""Save a study's draft, and keep every saved draft, so that two people can edit and nothing is lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

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
