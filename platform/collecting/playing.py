"""Play one item: open its match, ask each agent, make each move; can be resumed at any point.

All writes check that the item's lease is still held, so that a driver whose lease expired changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction
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


def begin(collection: Collection, item: Item, holder: str) -> Match:
    """Return the item's match, newly opened or left unfinished by an earlier driver.

    Scripted players without delay have already moved as far as possible.

    Raises:
        LeaseLost: another driver holds the item.
    """
    if item.match_id is not None:
        return Match.objects.get(pk=item.match_id)
    planned = planning.planned_match(collection, item.number)
    services.prepare(game=collection.game, config=planned.config, seed=planned.seed)
    return _open(collection, item, planned, holder)


@transaction.atomic
def _open(collection: Collection, item: Item, planned: planning.PlannedMatch, holder: str) -> Match:
    match = services.open_match(
        game=collection.game,
        config=planned.config,
        players=planned.players,
        seed=planned.seed,
        purpose=Match.Purpose.COLLECTION,
        budget_of=collection.budget_of,
        texts=planned.texts(),
        timers={"chat": planned.chat} if planned.chat else None,
    )
    moves = match.events.filter(kind="move").count()
    _write(item, holder, match=match, decisions=moves, **_columns_after(match))
    item.match = match
    return match


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
    decisions = F("decisions") + result.moves
    columns = _columns_after(Match.objects.get(pk=match.pk)) if result.over else {"attempts": 0}
    _write(item, holder, decisions=decisions, **columns)
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
    _write(item, holder, status=Item.Status.FAILED, problem=problem, ended_at=timezone.now(), until=None)


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


def _write(item: Item, holder: str, **columns: object) -> None:
    """Update the item if its lease is still held."""
    claimed = Item.objects.filter(pk=item.pk, holder=holder, status=Item.Status.PLAYING)
    if claimed.update(**columns) != 1:
        raise LeaseLost(f"item {item.number} is no longer held")
