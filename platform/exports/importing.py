"""Import of published matches: one collection per game."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from collecting.models import Collection, Item
from collecting.storing import Finished, store
from exports.errors import AlreadyImported
from exports.published import Imported, System, Unreadable
from games import registry
from plans.canonical import sha256_of
from studies.launching import code_revision

CHUNK = 500
"""Number of matches written together."""
DRAWN = ("instance", "qualities", "schedule", "tie_leaders", "values")
"""Parameters that were drawn at random, not chosen; they stay with each match."""
KEPT = ("repetition", "environment")
"""What a collection keeps of its imported matches, in their order."""


@dataclass
class ImportResult:
    """The result of an import: collections by game, and numbers of matches."""

    collections: dict[str, Collection] = field(default_factory=dict)
    matches: int = 0
    unverified: int = 0
    disagreeing: int = 0
    unreadable: list[Unreadable] = field(default_factory=list)


@transaction.atomic
def import_matches(
    system: System, root: Path, *, name: str, on_match: Callable[[Imported], None] = lambda match: None
) -> ImportResult:
    """Import all readable matches of a folder; if that fails, import nothing.

    Args:
        name: the collections are called NAME-GAME.
        on_match: called with every match read.

    Raises:
        AlreadyImported: collections with that name exist.
    """
    if existing := Collection.objects.filter(slug__in=[_slug(name, key) for key in registry.keys()]).first():
        raise AlreadyImported(f"“{existing.slug}” already exists: use another --name, or delete it first.")
    result = ImportResult()
    configurations: dict[str, dict[str, Any]] = {}
    of_matches: dict[str, dict[str, list[Any]]] = {}
    matches = readable(system.read(root), result)
    for portion in iter(lambda: list(islice(matches, CHUNK)), []):
        by_game: dict[str, list[Imported]] = {}
        for match in portion:
            on_match(match)
            if match.events:
                by_game.setdefault(match.game, []).append(match)
        for key, of_key in by_game.items():
            if key not in result.collections:
                result.collections[key] = _collection(system, name, key)
            _store(result.collections[key], of_key)
            for kept in KEPT:
                of_matches.setdefault(key, {}).setdefault(kept, []).extend(getattr(match, kept) for match in of_key)
            of_game = configurations.setdefault(key, {})
            for match in of_key:
                config = {key: value for key, value in match.config.items() if key not in DRAWN}
                of_game.setdefault(repr(config), config)
    for key, collection in result.collections.items():
        _freeze(collection, list(configurations[key].values()), of_matches[key])
    return result


def readable(found: Iterable[Imported | Unreadable], result: ImportResult) -> Iterator[Imported]:
    """Yield the matches that could be read; `result` counts them and keeps the others."""
    for match in found:
        if isinstance(match, Unreadable):
            result.unreadable.append(match)
            continue
        result.matches += 1
        result.unverified += match.unverified is not None
        result.disagreeing += bool(match.disagreements)
        yield match


def _collection(system: System, name: str, key: str) -> Collection:
    return Collection.objects.create(
        title=f"{registry.get(key).title}: published {system.title} games",
        slug=_slug(name, key),
        source=system.key,
        game=key,
        status=Collection.Status.DONE,
        sha256="",
        planned=0,
    )


def _store(collection: Collection, matches: list[Imported]) -> None:
    finished = [
        Finished(
            match.config,
            match.seed,
            match.payoffs,
            match.metrics,
            match.players,
            match.events,
            item={
                "name": match.name[:120],
                "names": list(match.names),
                "unverified": (match.unverified or "")[:500],
            },
        )
        for match in matches
    ]
    store(collection, finished, first=collection.planned + 1)
    collection.planned += len(matches)


def _freeze(collection: Collection, configurations: list[dict[str, Any]], of_matches: Mapping[str, list[Any]]) -> None:
    """Freeze where the matches come from, their configurations, and what is known of them otherwise."""
    unverified = Item.objects.filter(collection=collection).exclude(unverified="").count()
    collection.frozen = {
        "game": collection.game,
        "rules_version": registry.get(collection.game).rules_version,
        "configurations": configurations,
        "imported": {
            "layout": collection.source,
            "games": collection.planned,
            "unverified": unverified,
            **{name: values for name, values in of_matches.items() if any(values)},
        },
    }
    collection.sha256 = sha256_of(collection.content)
    collection.code_revision = code_revision()
    collection.started_at = collection.ended_at = timezone.now()
    collection.save()


def _slug(name: str, key: str) -> str:
    return f"{name}-{key.replace('_', '-')}"
