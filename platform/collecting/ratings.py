"""Strengths of a collection's agents by their game's measure (`Game.rated_by`), with intervals."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from collecting.models import Collection, Item
from collecting.stages import state_of
from games import registry
from matches.models import Match, Seat

MAX_MATCHES = 20_000
"""Maximum number of matches rated: the first ones of a longer collection."""
CACHED = 16


@dataclass(frozen=True)
class Rating:
    """An agent's strength, as `bradley_terry` returns it; None is unknown.

    Attributes:
        strength: in log-odds, with mean zero over the agents.
        matches: number of matches.
        clusters: number of independent units among them.
        note: why there is no interval.
    """

    label: str
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    strength: float | None
    low: float | None
    high: float | None
    matches: int
    clusters: int
    note: str


@dataclass(frozen=True)
class Ratings:
    """The agents from strongest to weakest, and the advantage of the first seat in log-odds."""

    agents: Sequence[Rating] = ()
    seat_effect: Mapping[str, Any] = field(default_factory=dict)


def ratings_of(collection: Collection) -> Ratings:
    """Return the agents' ratings after the collection's finished matches; empty if the game has no rating."""
    if collection.game not in registry.keys() or not registry.get(collection.game).rated_by:
        return Ratings()
    return _rated(collection.pk, registry.get(collection.game).rated_by, state_of(collection))


@lru_cache(maxsize=CACHED)
def _rated(collection: int, measure: str, _state: Any) -> Ratings:
    """Return the ratings; the state of the collection's matches only tells when they must be computed again."""
    from analysis.toolbox.bradley_terry import SEAT_EFFECT, bradley_terry, enough_of_each

    finished = Item.objects.filter(collection=collection, status=Item.Status.FINISHED, match__metrics__isnull=False)
    numbers = finished.order_by("number").values_list("match", flat=True)[:MAX_MATCHES]
    matches = Match.objects.filter(pk__in=numbers).values_list("pk", "config", "seed", "metrics", "payoffs")
    seats: dict[int, list[tuple[str, str]]] = {}
    labels = Seat.objects.filter(match__item__collection=collection).values_list("match", "role", "label", "agent")
    for match, role, label, agent in labels.order_by("pk"):
        seats.setdefault(match, []).append((role, label or agent))
    scores, configurations, keys = [], [], []
    for match, config, seed, metrics, payoffs in matches.order_by("pk"):
        seated, configuration = seats[match], json.dumps(config, sort_keys=True)
        scores.append([(label, (metrics or {}).get(f"{role}_{measure}")) for role, label in seated])
        configurations.append(configuration)
        results = json.dumps([metrics, payoffs], sort_keys=True)
        keys.append([(configuration, seed), (configuration, *seated, results)])
    rated = bradley_terry(scores, configuration=enough_of_each(configurations), cluster=units_of(keys))
    effect = rated.pop(SEAT_EFFECT)
    names = ("rank", "rank_low", "rank_high", "strength", "low", "high", "clusters", "note")
    agents = [Rating(label, matches=found["n"], **{n: found[n] for n in names}) for label, found in rated.items()]
    return Ratings(sorted(agents, key=lambda agent: (agent.rank is None, agent.rank, agent.label)), effect)


def units_of(keys: Sequence[Sequence[Hashable]]) -> list[int]:
    """Return each match's independent unit: matches that share a key, directly or through others, are one."""
    unit = [*range(len(keys))]

    def first(match: int) -> int:
        while unit[match] != match:
            unit[match] = match = unit[unit[match]]
        return match

    known: dict[Hashable, int] = {}
    for match, of_match in enumerate(keys):
        for key in of_match:
            one, two = first(match), first(known.setdefault(key, match))
            unit[max(one, two)] = min(one, two)
    return [first(match) for match in range(len(keys))]
