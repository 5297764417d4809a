"""The matches of a collection, read in order and in pieces as of one moment."""

from __future__ import annotations

from collections.abc import Iterator

from collecting.models import Collection, Item
from exports.events import logs_of
from exports.ways import Place, Played, Reading, Seated
from matches.models import Match, Seat

CHUNK = 200


def collected(
    reading: Reading, collection: Collection, *, first: int = 1, last: int | None = None
) -> Iterator[tuple[Item, Played | None]]:
    """Every planned match in order; None where it was not begun.

    Args:
        first, last: only the items with numbers from and to here.
    """
    items = Item.objects.filter(collection=collection).order_by("number")
    if last is not None:
        items = items.filter(number__lte=last)
    after = first - 1
    while portion := list(items.filter(number__gt=after)[:CHUNK]):
        begun = [item.match_id for item in portion if item.match_id is not None]
        # Not prefetched: rows that point at each other stay in memory until they are searched for.
        matches = Match.objects.defer("snapshot", "turns", "texts", "timers").in_bulk(begun)
        logs = logs_of(begun)
        seats: dict[int, list[Seated]] = {}
        for match, role, agent in Seat.objects.filter(match_id__in=begun).values_list("match_id", "role", "agent"):
            seats.setdefault(match, []).append(Seated(role, agent))
        for item in portion:
            if item.match_id is None:
                yield item, None
                continue
            place = Place(version=1, name=item.name, unverified=item.unverified, names=tuple(item.names))
            key = item.match_id
            yield item, Played(reading, matches[key], place, logs.get(key, []), seats.get(key, []))
        after = portion[-1].number
