"""The matches of a collection, read in order and in pieces as of one moment."""

from __future__ import annotations

import gc
from collections.abc import Iterator

from django.db.models import Prefetch

from collecting.models import Collection, Item
from exports.ways import Place, Played, Reading
from matches.models import Event, Match

CHUNK = 200


def collected(reading: Reading, collection: Collection) -> Iterator[tuple[Item, Played | None]]:
    """Every planned match in order; None where it was not begun."""
    last = 0
    while items := _after(collection, last):
        for item in items:
            match = item.match
            if match is None:
                yield item, None
                continue
            place = Place(version=1, name=item.name, unverified=item.unverified, names=tuple(item.names))
            yield item, Played(reading, match, place)
        last = items[-1].number
        del items, item, match
        gc.collect()  # rows and their relations point at each other, so nothing else frees them soon


def _after(collection: Collection, last: int) -> list[Item]:
    matches = Match.objects.defer("snapshot", "turns")
    return list(
        Item.objects.filter(collection=collection, number__gt=last)
        .order_by("number")
        .prefetch_related(
            Prefetch("match", matches),
            "match__seats",
            Prefetch("match__events", Event.objects.order_by("number")),
        )[:CHUNK]
    )
