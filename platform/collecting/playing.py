"""One item's course: its match opened, each thinking agent asked, each move taken; all of it resumable.

What is written is written with proof that the item is still held: a driver that was thought dead and
comes back changes nothing.
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
from llm_agents.agent import Decision
from llm_agents.pricing import PriceList
from llm_agents.record import CallRecord
from matches import services
from matches.asking import Question
from matches.models import Match
from participants.states import State


def begin(collection: Collection, item: Item, holder: str) -> Match:
    """The item's match: opened now, or the one that a driver left in the middle.

    Scripted players that do not wait have already played as far as they could.

    Raises:
        LeaseLost: somebody else has the item.
    """
    if item.match_id is not None:
        return Match.objects.get(pk=item.match_id)
    wanted = planning.wanted(collection, item.number)
    services.prepare(game=collection.game, config=wanted.config, seed=wanted.seed)
    return _open(collection, item, wanted, holder)


@transaction.atomic
def _open(collection: Collection, item: Item, wanted: planning.Wanted, holder: str) -> Match:
    instructions = collection.content["texts"]["instructions"]
    match = services.open_match(
        game=collection.game,
        config=wanted.config,
        players=wanted.players,
        seed=wanted.seed,
        purpose=Match.Purpose.COLLECTION,
        budget_of=f"collection:{collection.slug}",
        texts={"instructions": instructions} if collection.content["edited"] else None,
    )
    moves = match.events.filter(kind="move").count()
    _write(item, holder, match=match, decisions=moves, **_columns_after(match))
    item.match = match
    return match


@transaction.atomic
def take(*, item: Item, question: Question, decision: Decision | None, holder: str) -> Play:
    """Take an agent's move, or without a decision what is moved in its place.

    Returns:
        The play after it and after what scripted players did at once.

    Raises:
        LeaseLost, Stale, Refused: nothing was changed.
    """
    match = question.match
    if decision is not None:
        taken = question.move(decision)
    else:
        taken = services.replace_agent(match_id=match.pk, role=question.role, answering=question.answering)
    decisions = F("decisions") + taken.moves
    columns = _columns_after(Match.objects.get(pk=match.pk)) if taken.over else {"attempts": 0}
    _write(item, holder, decisions=decisions, **columns)
    return taken.play


def pay(prices: PriceList, item: Item, calls: Sequence[CallRecord]) -> None:
    """Add to the item what these calls cost."""
    cost = sum((prices.cost(call) or Decimal(0) for call in calls), start=Decimal(0))
    if cost:
        Item.objects.filter(pk=item.pk).update(cost=F("cost") + cost)


@transaction.atomic
def fail(*, item: Item, holder: str, problem: str, role: Role | None = None) -> None:
    """The match cannot go on: it ends without a result, and the item says why.

    Raises:
        LeaseLost
    """
    if item.match_id is not None:
        services.abandon_match(match_id=item.match_id, reason=State.OPPONENT_FAILED, role=role)
    problem = " ".join(problem.split())[:500]
    _write(item, holder, status=Item.Status.FAILED, problem=problem, ended_at=timezone.now(), until=None)


def _columns_after(match: Match) -> dict[str, object]:
    """The item's columns that follow from where its match stands."""
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
    """Change the item, if it is still ours."""
    held = Item.objects.filter(pk=item.pk, holder=holder, status=Item.Status.PLAYING)
    if held.update(**columns) != 1:
        raise LeaseLost(f"item {item.number} is no longer held")
