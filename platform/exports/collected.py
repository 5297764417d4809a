"""The matches of a collection, read in order and in chunks as of one point in time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from collecting.models import Collection, Item
from collecting.planning import planned_match
from exports.csvsafe import compact_json
from exports.events import logs_of
from exports.participants import Place, PlayedMatch, Reading, SeatValues
from exports.sources import CollectionSource
from matches.models import Match, Seat

CHUNK = 200


def collection_matches(
    reading: Reading, collection: Collection, *, first: int = 1, last: int | None = None
) -> Iterator[tuple[Item, PlayedMatch | None]]:
    """Yield every planned match in order; None if it was not started.

    Args:
        first, last: only items with numbers in this range, both ends included.
    """
    source = CollectionSource(collection)
    cells = cells_of(source)
    named = {name for cell in source.cells() for name in cell["config"]}
    timers = [] if source.chats else ["timers"]
    last = collection.planned if last is None else last
    for offset in range(first - 1, last, CHUNK):
        portion = _items(collection, offset + 1, min(last, offset + CHUNK))
        match_keys = [item.match_id for item in portion if item.match_id is not None]
        # Not prefetched: rows that refer to each other stay in memory until the garbage collector finds them.
        matches = Match.objects.defer("snapshot", "turns", "texts", *timers).in_bulk(match_keys)
        logs = logs_of(match_keys)
        seats: dict[int, list[SeatValues]] = {}
        seat_values = Seat.objects.filter(match_id__in=match_keys).values_list(
            "match_id", "role", "agent", "label", "settings", "delay"
        )
        for match, *seat in seat_values:
            seats.setdefault(match, []).append(SeatValues(*seat))
        for item in portion:
            if item.match_id is None:
                yield item, None
                continue
            key = item.match_id
            # Imported matches have parameters that were drawn for each of them, which no cell has.
            chosen = {name: value for name, value in matches[key].config.items() if name in named}
            possible = cells.get(compact_json(chosen), [None])
            cell = possible[0] if len(possible) == 1 else source.cell_of(item.number)
            place = Place(
                version=1,
                cell=cell,
                factors=source.levels(cell) if cell else {},
                name=item.name or None,
                unverified=item.unverified,
                names=tuple(item.names),
                repetition=_repetition_number(collection, item.number),
                environment=collection.document.get("environment")
                or _of_imported(collection, "environment", item.number),
            )
            yield item, PlayedMatch(reading, matches[key], place, logs.get(key, []), seats.get(key, []))


def _items(collection: Collection, first: int, last: int) -> list[Item]:
    """Return the items with these numbers, including those not started."""
    rows = {row.number: row for row in collection.items.filter(number__gte=first, number__lte=last)}
    return [rows.get(number) or Item(collection=collection, number=number) for number in range(first, last + 1)]


def cells_of(source: CollectionSource) -> dict[str, list[int]]:
    """Return the numbers of a collection's cells, by the configuration as JSON; several if texts or agents vary."""
    numbers: dict[str, list[int]] = {}
    for cell in source.cells():
        numbers.setdefault(compact_json(cell["config"]), []).append(cell["cell"])
    return numbers


def _repetition_number(collection: Collection, number: int) -> int | None:
    """Return the match's repetition of its configuration and line-up, from 1; None if an imported match has none."""
    if collection.document:
        return planned_match(collection, number).repetition
    return _of_imported(collection, "repetition", number)


def _of_imported(collection: Collection, name: str, number: int) -> Any:
    """Return what is kept of an imported match under a name; None if nothing is."""
    values = collection.frozen.get("imported", {}).get(name)
    return values[number - 1] if values else None
