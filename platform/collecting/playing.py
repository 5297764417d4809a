"""Play one item: open its match, ask each agent, make each move; can be resumed at any point.

All writes check that the item's lease is still held, so that a driver whose lease expired changes nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from collecting import planning
from collecting.errors import LeaseLost
from collecting.models import Collection, Item
from games.interface import Role
from games.play import Play
from llm_agents.deciding import Decision
from llm_agents.pricing import PriceList
from llm_agents.record import CallRecord
from matches import services
from matches.asking import Question
from matches.models import Match
from participants.states import State

OPENING_SECONDS = 0.5
"""After this time, no more matches are opened in the same transaction: progress shows, and little is lost."""


def begin(collection: Collection, item: Item, holder: str) -> Match:
    """Return the item's match, newly opened or left unfinished by an earlier driver.

    Scripted players without delay have already moved as far as possible.

    Raises:
        LeaseLost: another driver holds the item.
    """
    if item.match_id is not None:
        return Match.objects.get(pk=item.match_id)
    return begin_together(collection, [item], holder)[item.pk]


def begin_together(collection: Collection, items: Sequence[Item], holder: str) -> dict[int, Match]:
    """Open new matches and write them in one transaction, after playing what scripts play at once.

    Returns:
        the matches by their item's key; not those that would have begun after `OPENING_SECONDS`.

    Raises:
        LeaseLost, GameError: nothing was written.
    """
    until, openings = time.monotonic() + OPENING_SECONDS, []
    for item in items:
        openings.append(_opening(collection, item))
        if time.monotonic() > until:
            break
    opened = list(zip(items, openings, strict=False))
    with transaction.atomic():
        services.write_openings(openings)
        _write(holder, [(item, _columns_of(opening)) for item, opening in opened])
    for item, opening in opened:
        item.match = opening.match
    return {item.pk: opening.match for item, opening in opened}


def _opening(collection: Collection, item: Item) -> services.Opening:
    planned = planning.planned_match(collection, item.number)
    return services.opening(
        game=collection.game,
        config=planned.config,
        players=planned.players,
        seed=planned.seed,
        purpose=Match.Purpose.COLLECTION,
        budget_of=collection.budget_of,
        texts=planned.texts(),
        timers={"chat": planned.chat} if planned.chat else None,
    )


def _columns_of(opening: services.Opening) -> dict[str, object]:
    return {"match": opening.match.pk, "decisions": opening.change.moves, **_columns_after(opening.match)}


def _write(holder: str, written: Iterable[tuple[Item, Mapping[str, Any]]]) -> None:
    """Write columns of items, and add to their decisions, if all are still held."""
    rows: dict[str, list[list[Any]]] = {}
    for item, columns in written:
        fields = [field for field in Item._meta.concrete_fields if field.name in columns]
        values = [field.get_db_prep_save(columns[field.name], connection) for field in fields]
        changes = ", ".join(
            f"{field.column} = decisions + %s" if field.name == "decisions" else f"{field.column} = %s"
            for field in fields
        )
        rows.setdefault(changes, []).append([*values, item.pk, holder, Item.Status.PLAYING])
    with connection.cursor() as cursor:
        for changes, alike in rows.items():
            condition = "id = %s AND holder = %s AND status = %s"
            cursor.executemany(f"UPDATE {Item._meta.db_table} SET {changes} WHERE {condition}", alike)
            if cursor.rowcount != len(alike):
                raise LeaseLost("an item is no longer held")


@transaction.atomic
def make_move(*, item: Item, question: Question, decision: Decision | None, holder: str) -> Play:
    """Make an agent's move; without a decision, its fallback script moves.

    Returns:
        The play after that move and after the immediate moves of scripted players.

    Raises:
        LeaseLost, Stale, Refused: nothing was changed.
    """
    match = question.match
    if decision is not None:
        result = question.move(decision)
    else:
        result = services.replace_agent(match_id=match.pk, role=question.role, answering=question.answering)
    columns = _columns_after(Match.objects.get(pk=match.pk)) if result.over else {"attempts": 0}
    _write(holder, [(item, {"decisions": result.moves, **columns})])
    return result.play


def add_cost(prices: PriceList, item: Item, calls: Sequence[CallRecord]) -> None:
    """Add the cost of these calls to the item."""
    cost = sum((prices.cost(call) or Decimal(0) for call in calls), start=Decimal(0))
    if cost:
        Item.objects.filter(pk=item.pk).update(cost=F("cost") + cost)


@transaction.atomic
def fail(*, item: Item, holder: str, problem: str, role: Role | None = None) -> None:
    """End a match that cannot continue, without a result, and record why in the item.

    Raises:
        LeaseLost
    """
    if item.match_id is not None:
        services.abandon_match(match_id=item.match_id, reason=State.OPPONENT_FAILED, role=role)
    problem = " ".join(problem.split())[:500]
    failed = {"status": Item.Status.FAILED, "problem": problem, "ended_at": timezone.now(), "until": None}
    _write(holder, [(item, failed)])


def _columns_after(match: Match) -> dict[str, object]:
    """Return the item's columns that depend on the state of its match."""
    if match.status == Match.Status.LIVE:
        return {}
    finished = match.status == Match.Status.FINISHED
    return {
        "status": Item.Status.FINISHED if finished else Item.Status.FAILED,
        "problem": "" if finished else "A scripted player made no legal move.",
        "ended_at": match.ended_at,
        "until": None,
    }
