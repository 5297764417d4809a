"""Store matches that were played elsewhere, many together, as finished matches of a collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from collecting.models import Collection, Item
from games import registry
from games.interface import Event, Json, Role
from games.play import Play
from matches.bulk import write_logs
from matches.models import Match, Seat

ROWS = 2000
"""Rows of one INSERT statement."""


@dataclass(frozen=True)
class Finished:
    """A finished match.

    Attributes:
        agents: the label of each role's player.
        item: further fields of its `Item`.
        seconds: how long it took.
    """

    config: Mapping[str, Json]
    seed: int
    payoffs: Mapping[Role, float | None]
    metrics: Mapping[str, Json]
    agents: Mapping[Role, str]
    events: Sequence[Event]
    item: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @classmethod
    def of(cls, play: Play, agents: Mapping[Role, str], events: Sequence[Event], seconds: float = 0.0) -> Finished:
        """Return a match that was played to its end."""
        config = play.game.config.model_dump(mode="json")
        return cls(config, play.seed, play.payoffs(), play.metrics(), agents, events, seconds=seconds)

    @property
    def moves(self) -> int:
        return sum(event.kind == "move" for event in self.events)


@transaction.atomic
def store(collection: Collection, finished: Sequence[Finished], *, first: int) -> None:
    """Write matches, seats, logs and items, numbered from `first`."""
    now, imported = timezone.now(), collection.source != Collection.Source.PLAYED
    same = {
        "game": collection.game,
        "rules_version": registry.get(collection.game).rules_version,
        "purpose": Match.Purpose.IMPORTED if imported else Match.Purpose.COLLECTION,
        "status": Match.Status.FINISHED,
        "ending": "finished",
        "ended_at": now,
    }
    matches = Match.objects.bulk_create(
        Match(
            **same,
            config=dict(one.config),
            seed=one.seed,
            payoffs=dict(one.payoffs),
            metrics=dict(one.metrics),
            started_at=now - timedelta(seconds=one.seconds),
        )
        for one in finished
    )
    pairs = list(zip(matches, finished, strict=True))
    seats = (Seat(match=match, role=role, agent=agent) for match, one in pairs for role, agent in one.agents.items())
    Seat.objects.bulk_create(seats, batch_size=ROWS)
    write_logs(((match.pk, one.events) for match, one in pairs), at=now)
    done = {"collection": collection, "status": Item.Status.FINISHED, "ended_at": now}
    items = (
        Item(**done, **one.item, number=number, match=match, decisions=one.moves)
        for number, (match, one) in enumerate(pairs, start=first)
    )
    Item.objects.bulk_create(items, batch_size=ROWS)
