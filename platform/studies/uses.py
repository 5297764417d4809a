"""Which studies ask models of an endpoint."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from django.urls import reverse
from django.utils.translation import gettext as _

from opponents.uses import Use, asks
from plans.reading import BadPlan
from studies.models import Study, Version


def uses_of(endpoint: str) -> Iterator[Use]:
    """Yield the drafts and the frozen versions whose agents ask models of the endpoint."""
    for study in Study.objects.order_by("pk"):
        with suppress(BadPlan, ValueError, KeyError, AttributeError, TypeError):  # a draft that cannot be read
            if asks(Version(study=study, document=study.draft).agents().values(), endpoint):
                yield _use(study, _("settings"))
    for version in Version.objects.select_related("study").order_by("study", "number").iterator():
        if asks(version.agents().values(), endpoint):
            yield _use(version.study, _("version {number}").format(number=version.number))


def _use(study: Study, title: str) -> Use:
    return Use(study, title, reverse("admin:studies_study_change", args=[study.pk]))
