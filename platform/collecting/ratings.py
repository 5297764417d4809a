"""How strong the agents of a collection are, by the measure that its game names (`Game.rated_by`)."""

from __future__ import annotations

from collections.abc import Iterator

from collecting.models import Collection, Item
from games import registry
from games.ratings import Rating, Seats, rated, scores_of
from matches.models import Seat

MOST_MATCHES = 20_000
"""Of a longer collection the first ones are rated."""


def ratings_of(collection: Collection) -> list[Rating]:
    """The agents' ratings after the collection's finished matches; none where its game does not rate them."""
    return rated(_scores(collection)) if _measure(collection) else []


def _measure(collection: Collection) -> str:
    return registry.get(collection.game).rated_by if collection.game in registry.keys() else ""


def _scores(collection: Collection) -> Iterator[Seats]:
    """The finished matches' scores, in the order of the plan."""
    finished = collection.items.filter(status=Item.Status.FINISHED, match__metrics__isnull=False)
    metrics = dict(finished.order_by("number").values_list("match_id", "match__metrics")[:MOST_MATCHES])
    seats: dict[int, dict[str, str]] = {}
    labels = Seat.objects.filter(match__item__collection=collection).values_list("match_id", "role", "label", "agent")
    for match, role, label, agent in labels.order_by("pk"):
        seats.setdefault(match, {})[role] = label or agent
    measure = _measure(collection)
    for match, found in metrics.items():
        yield scores_of(found, seats[match], measure)
