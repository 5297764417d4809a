"""Keep running collections going after workers or tasks are lost."""

from __future__ import annotations

from django.conf import settings
from django.utils import timezone

from collecting.leases import has_matches_left
from collecting.models import Collection, Driver
from collecting.services import finish_if_played


def undriven() -> list[int]:
    """Return running collections with matches to play and too few drivers; close those with nothing left."""
    undriven_keys = []
    for collection in Collection.objects.filter(status=Collection.Status.RUNNING).defer("document", "frozen"):
        if not has_matches_left(collection.pk):
            finish_if_played(collection)
            continue
        drivers = Driver.objects.filter(collection=collection, until__gt=timezone.now()).count()
        if drivers < settings.COLLECTION_DRIVERS:
            undriven_keys.append(collection.pk)
    return undriven_keys
