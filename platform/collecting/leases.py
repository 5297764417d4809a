"""Leases on items: claimed, renewed, released; they expire within seconds if their driver dies."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils import timezone

import leasing
from collecting.models import Collection, Driver, Item

LEASE_SECONDS = 4.0
RENEW_SECONDS = 1.0
LEASE_LENGTH = timedelta(seconds=LEASE_SECONDS)
MAX_ATTEMPTS = 6
"""How often an item may be started without progress in its match before it counts as failed."""
UNFINISHED = (Item.Status.WAITING, Item.Status.PLAYING)


def take_slot(collection: Collection, slot: int, holder: str) -> bool:
    """Become the driver of this slot; return False if it has one."""
    try:
        with transaction.atomic():
            Driver.objects.create(collection=collection, slot=slot, holder=holder, until=_lease_end())
            return True
    except IntegrityError:
        return leasing.take(Driver.objects.filter(collection=collection, slot=slot), holder, LEASE_LENGTH) == 1


def leave_slot(collection: Collection, slot: int, holder: str) -> None:
    leasing.release(Driver.objects.filter(collection=collection, slot=slot), holder)


@transaction.atomic
def claim(collection: Collection, holder: str, limit: int) -> list[Item]:
    """Return the next items nobody plays: unfinished ones first, then new ones."""
    free_items = Item.objects.filter(leasing.free(), collection=collection, status__in=UNFINISHED)
    can_skip_locked = connection.features.has_select_for_update_skip_locked
    items = list(free_items.select_for_update(skip_locked=can_skip_locked).order_by("number")[:limit])
    Item.objects.filter(pk__in=[item.pk for item in items]).update(
        status=Item.Status.PLAYING, holder=holder, until=_lease_end(), attempts=F("attempts") + 1
    )
    for item in items:
        item.attempts += 1
    return items + _start_new(collection, holder, limit - len(items))


def _start_new(collection: Collection, holder: str, limit: int) -> list[Item]:
    """Return the next matches that were never started."""
    started, planned = (
        Collection.objects.select_for_update().values_list("begun", "planned").get(pk=collection.pk)
        if limit > 0
        else (0, 0)
    )
    numbers = range(started + 1, min(planned, started + limit) + 1)
    if numbers:
        Collection.objects.filter(pk=collection.pk).update(begun=numbers[-1])
    return Item.objects.bulk_create(
        Item(
            collection=collection,
            number=number,
            status=Item.Status.PLAYING,
            holder=holder,
            until=_lease_end(),
            attempts=1,
        )
        for number in numbers
    )


def has_matches_left(collection: int) -> bool:
    """Return whether anything is left to play in the collection."""
    unfinished = Item.objects.filter(collection=collection, status__in=UNFINISHED)
    return unfinished.exists() or Collection.objects.filter(pk=collection, begun__lt=F("planned")).exists()


def renew(collection: Collection, slot: int, holder: str) -> bool:
    """Renew the slot and its items; return False if the slot was lost."""
    renewed = leasing.renew(Driver.objects.filter(collection=collection, slot=slot), holder, LEASE_LENGTH)
    leasing.renew(Item.objects.filter(collection=collection, status=Item.Status.PLAYING), holder, LEASE_LENGTH)
    return renewed == 1


def give_back(items: Iterable[int], holder: str) -> None:
    """Release unfinished items, so that another driver can continue them at once."""
    claimed = Item.objects.filter(pk__in=list(items), status=Item.Status.PLAYING)
    leasing.release(claimed, holder, status=Item.Status.WAITING, holder="", until=None, attempts=0)


def _lease_end():
    return timezone.now() + LEASE_LENGTH
