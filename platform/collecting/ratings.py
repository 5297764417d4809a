"""Ratings of a collection's agents by their game's measure (`Game.rated_by`)."""

from __future__ import annotations

from collections.abc import Iterator

from collecting.models import Collection, Item
from games import registry
from games.ratings import Rating, Seats, rate_agents, scores_of
from matches.models import Seat

MAX_MATCHES = 20_000
"""Maximum number of matches rated: the first ones of a longer collection."""


def ratings_of(collection: Collection) -> list[Rating]:
    """Return the agents' ratings after the collection's finished matches; empty if the game has no rating."""
    return rate_agents(_scores(collection)) if _measure(collection) else []


def _measure(collection: Collection) -> str:
    return registry.get(collection.game).rated_by if collection.game in registry.keys() else ""


def _scores(collection: Collection) -> Iterator[Seats]:
    """Return the finished matches' scores in the plan's order."""
    finished = collection.items.filter(status=Item.Status.FINISHED, match__metrics__isnull=False)
    metrics = dict(finished.order_by("number").values_list("match_id", "match__metrics")[:MAX_MATCHES])
    seats: dict[int, dict[str, str]] = {}
    labels = Seat.objects.filter(match__item__collection=collection).values_list("match_id", "role", "label", "agent")
    for match, role, label, agent in labels.order_by("pk"):
        seats.setdefault(match, {})[role] = label or agent
    measure = _measure(collection)
    for match, match_metrics in metrics.items():
        yield scores_of(match_metrics or {}, seats[match], measure)
