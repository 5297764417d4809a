"""Start, pause and resume collections, refusing what the current state does not allow."""

from __future__ import annotations

from collections.abc import Container
from decimal import Decimal

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from collecting import planning, stages
from collecting.errors import WrongState
from collecting.leases import has_matches_left
from collecting.models import Collection, Item
from opponents.spending import cap_of_today, forget_refusal

Status = Collection.Status


def start(collection: Collection) -> Collection:
    """Start a collection that is ready, or resume one that was paused or stopped at its budget.

    Raises:
        WrongState
    """
    with transaction.atomic():
        collection = _lock(collection, allowed=(Status.READY, Status.PAUSED, Status.OVER_BUDGET), action="start")
        if collection.budget is not None and spent(collection) >= collection.budget:
            raise WrongState("The budget is used up. Raise it first.")
        if planning.models_of(planning.agents_in(collection).values()) and (reached := cap_of_today()):
            raise WrongState(str(reached))
        collection.status = Status.RUNNING
        collection.started_at = collection.started_at or timezone.now()
        collection.ended_at = None
        collection.save(update_fields=["status", "started_at", "ended_at"])
    return collection


def stop_spending(collection: Collection) -> None:
    """Stop a running collection because a spending limit is reached. Matches keep their current state."""
    running = Collection.objects.filter(pk=collection.pk, status=Status.RUNNING)
    running.update(status=Status.OVER_BUDGET)


def pause(collection: Collection) -> Collection:
    """Pause a collection; matches keep their current state.

    Raises:
        WrongState
    """
    with transaction.atomic():
        collection = _lock(collection, allowed=(Status.RUNNING,), action="pause")
        collection.status = Status.PAUSED
        collection.save(update_fields=["status"])
    return collection


def raise_budget(collection: Collection, budget: Decimal | None) -> Collection:
    """Raise the budget or (None) remove the limit.

    Raises:
        WrongState: the new budget is lower than the current one.
    """
    with transaction.atomic():
        collection = _lock(collection, allowed=tuple(Status), action="change the budget of")
        if budget is not None and (collection.budget is None or budget < collection.budget):
            raise WrongState("Enter a budget higher than the current one.")
        collection.budget = budget
        if collection.status == Status.OVER_BUDGET and (budget is None or spent(collection) < budget):
            collection.status = Status.PAUSED
        collection.save(update_fields=["budget", "status"])
        forget_refusal(collection.budget_of)
    return collection


def retry_failed(collection: Collection) -> int:
    """Schedule failed matches for replay from the start and return their number. The failed ones stay stored.

    Raises:
        WrongState: the collection is running or was imported.
    """
    with transaction.atomic():
        allowed = (Status.PAUSED, Status.OVER_BUDGET, Status.DONE)
        collection = _lock(collection, allowed=allowed, action="retry the failed matches of")
        retried = Item.objects.filter(collection=collection, status=Item.Status.FAILED).update(
            status=Item.Status.WAITING, match=None, attempts=0, problem="", ended_at=None, decisions=0
        )
        if retried and collection.status == Status.DONE:
            collection.status = Status.PAUSED
            collection.save(update_fields=["status"])
    return retried


def spent(collection: Collection) -> Decimal:
    """Return the cost of the collection's calls so far, in US dollars."""
    return Item.objects.filter(collection=collection).aggregate(all=Sum("cost"))["all"] or Decimal(0)


@transaction.atomic
def finish_if_played(collection: Collection) -> None:
    """Close a running collection with nothing left to play, or start its next stage."""
    running = Collection.objects.filter(pk=collection.pk, status=Status.RUNNING)
    if not running.select_for_update().exists() or has_matches_left(collection.pk):
        return
    if not stages.create_next(collection):
        running.update(status=Status.DONE, ended_at=timezone.now())


def _lock(collection: Collection, *, allowed: Container[str], action: str) -> Collection:
    fresh = Collection.objects.select_for_update().get(pk=collection.pk)
    if fresh.source != Collection.Source.PLAYED:
        raise WrongState(f"You cannot {action} an imported collection, because its matches were played elsewhere.")
    if fresh.status not in allowed:
        raise WrongState(f"You cannot {action} a collection that is {fresh.get_status_display()}.")
    return fresh
