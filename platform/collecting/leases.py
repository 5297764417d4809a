"""Whose work an item is: claimed, renewed, given back; run out within seconds of its driver's death."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q
from django.utils import timezone

from collecting.models import Collection, Driver, Item

LEASE_SECONDS = 4.0
RENEW_SECONDS = 1.0
MOST_ATTEMPTS = 6
"""How often an item may be begun without its match moving on, before it counts as failed."""
TO_PLAY = (Item.Status.WAITING, Item.Status.PLAYING)


def take_slot(collection: Collection, slot: int, holder: str) -> bool:
    """Become the driver of this slot; False when somebody is."""
    now = timezone.now()
    try:
        with transaction.atomic():
            Driver.objects.create(collection=collection, slot=slot, holder=holder, until=_until())
            return True
    except IntegrityError:
        free = Driver.objects.filter(collection=collection, slot=slot, until__lte=now)
        return free.update(holder=holder, until=_until()) == 1


def leave_slot(collection: Collection, slot: int, holder: str) -> None:
    Driver.objects.filter(collection=collection, slot=slot, holder=holder).update(until=timezone.now())


@transaction.atomic
def claim(collection: Collection, holder: str, most: int) -> list[Item]:
    """The next items that nobody plays, first those that were left in the middle."""
    now = timezone.now()
    free = Item.objects.filter(collection=collection, status__in=TO_PLAY).filter(Q(until=None) | Q(until__lte=now))
    skip = connection.features.has_select_for_update_skip_locked
    items = list(free.select_for_update(skip_locked=skip).order_by("number")[:most])
    Item.objects.filter(pk__in=[item.pk for item in items]).update(
        status=Item.Status.PLAYING, holder=holder, until=_until(), attempts=F("attempts") + 1
    )
    for item in items:
        item.attempts += 1
    return items


def renew(collection: Collection, slot: int, holder: str) -> bool:
    """Hold on to the slot and its items; False when the slot was lost."""
    held = Driver.objects.filter(collection=collection, slot=slot, holder=holder).update(until=_until())
    Item.objects.filter(collection=collection, status=Item.Status.PLAYING, holder=holder).update(until=_until())
    return held == 1


def give_back(items: Iterable[int], holder: str) -> None:
    """Let go of items that stay unfinished: somebody may go on with them at once."""
    Item.objects.filter(pk__in=list(items), holder=holder, status=Item.Status.PLAYING).update(
        status=Item.Status.WAITING, holder="", until=None, attempts=0
    )


def _until():
    return timezone.now() + timedelta(seconds=LEASE_SECONDS)
