"""Which collections ask models of an endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _

from collecting.models import Collection
from collecting.planning import agents_in
from opponents.uses import Use, asks


def uses_of(endpoint: str) -> Iterator[Use]:
    """Yield the collections whose agents ask models of the endpoint."""
    for collection in Collection.objects.order_by("pk").iterator():
        if asks(agents_in(collection).values(), endpoint):
            url = reverse("admin:collecting_collection_change", args=[collection.pk])
            yield Use(collection, _("matches"), url)
