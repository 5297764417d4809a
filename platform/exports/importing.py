"""Import of published games as matches: one collection per family."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from collecting.models import Collection, Item
from collecting.storing import Finished, store
from exports.errors import AlreadyImported
from exports.glee.playing import Outcome
from exports.glee.reading import Unreadable, read_tree
from games import registry
from plans.canonical import sha256_of
from studies.launching import code_revision

CHUNK = 500
"""Number of games written together."""
DRAWN = ("qualities",)
"""Parameters that were drawn at random, not chosen; they stay with each match."""


@dataclass
class ImportResult:
    """The result of an import: collections by family, and numbers of games."""

    collections: dict[str, Collection] = field(default_factory=dict)
    games: int = 0
    unverified: int = 0
    unreadable: list[Unreadable] = field(default_factory=list)


@transaction.atomic
def import_games(
    root: Path, *, name: str, on_game: Callable[[dict[str, Any]], None] = lambda line: None
) -> ImportResult:
    """Import all readable games of a folder; if that fails, import nothing.

    Args:
        name: the collections are called NAME-FAMILY.
        on_game: called with `Outcome.as_line` of every game read.

    Raises:
        AlreadyImported: collections with that name exist.
    """
    if existing := Collection.objects.filter(slug__in=[_slug(name, key) for key in registry.keys()]).first():
        raise AlreadyImported(f"“{existing.slug}” already exists: use another --name, or delete it first.")
    result = ImportResult()
    configurations: dict[str, dict[str, Any]] = {}
    for outcomes in _chunks(read_tree(root), result):
        by_family: dict[str, list[Outcome]] = {}
        for outcome in outcomes:
            on_game(outcome.as_line())
            by_family.setdefault(outcome.game.family, []).append(outcome)
        for family, family_outcomes in by_family.items():
            if family not in result.collections:
                result.collections[family] = _collection(name, family)
            _store(result.collections[family], family_outcomes)
            family_configs = configurations.setdefault(family, {})
            for outcome in family_outcomes:
                config = {key: value for key, value in outcome.game.config.items() if key not in DRAWN}
                family_configs.setdefault(repr(config), config)
    for family, collection in result.collections.items():
        _freeze(collection, list(configurations[family].values()))
    return result


def _chunks(outcomes: Iterable[Outcome | Unreadable], result: ImportResult) -> Iterable[list[Outcome]]:
    """Yield the readable games in portions and count them."""
    portion: list[Outcome] = []
    for outcome in outcomes:
        if isinstance(outcome, Unreadable):
            result.unreadable.append(outcome)
            continue
        result.games += 1
        result.unverified += outcome.unverified is not None
        portion.append(outcome)
        if len(portion) == CHUNK:
            yield portion
            portion = []
    if portion:
        yield portion


def _collection(name: str, family: str) -> Collection:
    return Collection.objects.create(
        title=f"{registry.get(family).title}: published GLEE games",
        slug=_slug(name, family),
        source=Collection.Source.GLEE,
        game=family,
        status=Collection.Status.DONE,
        sha256="",
        planned=0,
    )


def _store(collection: Collection, outcomes: list[Outcome]) -> None:
    finished = [
        Finished(
            outcome.game.config,
            outcome.seed,
            outcome.payoffs,
            outcome.metrics,
            outcome.game.players,
            outcome.events,
            item={
                "name": outcome.game.game_id[:120],
                "names": list(outcome.game.names),
                "unverified": (outcome.unverified or "")[:500],
            },
        )
        for outcome in outcomes
    ]
    store(collection, finished, first=collection.planned + 1)
    collection.planned += len(outcomes)


def _freeze(collection: Collection, configurations: list[dict[str, Any]]) -> None:
    """Freeze where the matches come from, and their configurations."""
    unverified = Item.objects.filter(collection=collection).exclude(unverified="").count()
    collection.frozen = {
        "game": collection.game,
        "rules_version": registry.get(collection.game).rules_version,
        "configurations": configurations,
        "imported": {"layout": "glee", "games": collection.planned, "unverified": unverified},
    }
    collection.sha256 = sha256_of(collection.content)
    collection.code_revision = code_revision()
    collection.started_at = collection.ended_at = timezone.now()
    collection.save()


def _slug(name: str, family: str) -> str:
    return f"{name}-{family.replace('_', '-')}"
