"""Later stages of a collection: configurations that a game creates from earlier results."""

from __future__ import annotations

from typing import Any

from django.db.models import Count, F, Max

from collecting import planning
from collecting.models import Collection, Item, Stage
from games import grids, registry
from matches.models import Match
from plans.canonical import sha256_of


def create_next(collection: Collection) -> bool:
    """Create the next stage once everything before it has been played; return False if there is none.

    Call it under the collection's lock.
    """
    known = planning.configured(collection)
    number = Stage.objects.filter(collection=collection).count() + 1
    if number >= known.plan.stages:
        return False
    results, sources = results_of(collection)
    game = registry.get(collection.game)
    configurations = grids.listed(game, game.stage_configurations(number, results))
    if not configurations:
        return False
    first = Item.objects.filter(collection=collection).count() + 1
    planned = known.schedule_of_stage(configurations).total
    Stage.objects.create(
        collection=collection,
        number=number,
        first=first,
        planned=planned,
        configurations=configurations,
        sources=sources,
        sha256=sha256_of({"configurations": configurations, "sources": sources}),
    )
    Collection.objects.filter(pk=collection.pk).update(planned=F("planned") + planned)
    return True


def state_of(collection: Collection) -> tuple[int, Any, int | None]:
    """Return what changes whenever another match of the collection has finished."""
    finished = Item.objects.filter(collection=collection, status=Item.Status.FINISHED)
    found = finished.aggregate(number=Count("pk"), last=Max("ended_at"), match=Max("match_id"))
    return found["number"], found["last"], found["match"]


def results_of(collection: Collection, limit: int | None = None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the results of `limit` finished matches in the plan's order, with their sources."""
    results, sources = [], []
    played = collection.source == Collection.Source.PLAYED
    finished = Item.objects.filter(collection=collection, match__status=Match.Status.FINISHED).order_by("number")
    for item in finished.select_related("match").prefetch_related("match__seats")[:limit]:
        match = item.match
        assert match is not None
        play = match.play()
        results.append(
            {
                "config": match.config,
                "agents": {seat.role: seat.label for seat in match.seats.all()},
                "payoffs": match.payoffs,
                "metrics": match.metrics,
                "records": play.records(),
                "repetition": planning.planned_match(collection, item.number).repetition if played else None,
            }
        )
        sources.append({"number": item.number, "match": str(match.uid), "events": play.last})
    return results, sources
