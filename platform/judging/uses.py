"""Which collections have judges at an endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from judging.models import JudgingRun
from opponents.uses import Use, names_endpoint


def uses_of(endpoint: str) -> Iterator[Use]:
    """Yield the collections with a judge at the endpoint."""
    runs = {run.collection: run for run in JudgingRun.objects.select_related("collection").order_by("collection")
            if names_endpoint(run.judges, endpoint)}  # fmt: skip
    for collection in runs:
        yield Use(collection, _("judges"), reverse("judging:page", args=[collection.pk]))
