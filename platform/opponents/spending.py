"""Spending and spending limits. Every call is recorded, whatever it costs.

The most that a call can cost is reserved before the call is made, and released when the call is recorded with its
cost, so that calls under way together never exceed a limit. A call with unknown price counts as free (`health`
shows how many there are).
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_UP, Decimal, InvalidOperation
from functools import partial
from typing import Literal

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from llm_agents.errors import AgentError
from opponents.models import Budget, Call, Reservation
from plans.asking import Caps

NOTHING = Decimal(0)
TODAY = "today"
"""The label of the installation's daily limit."""
RECORDING_TIME = timedelta(minutes=1)
"""How long after its end a call is recorded at the latest; its reservation then expires."""
POLL_SECONDS = 0.5
MICRO_DOLLAR = Decimal("0.000001")
Kind = Literal["match", "study", "day"]


@dataclass(frozen=True)
class Payer:
    """What pays for a seat's call: its match, and the budget with the label `budget_of`, such as "study:trust-1"."""

    match_uid: uuid.UUID
    role: str
    answering: int
    budget_of: str = ""


class CapReached(AgentError):
    """A spending limit is reached, or too close for another call.

    Attributes:
        kind: which limit it is.
        temporary: whether there would be enough left if the calls under way cost less than they may.
    """

    def __init__(
        self,
        kind: Kind,
        cap: Decimal,
        spent_so_far: Decimal,
        *,
        price: Decimal | None = None,
        temporary: bool = False,
        budget_of: str = "",
    ):
        messages = {
            "match": _("The match has cost ${spent}; its limit is ${cap}."),
            "study": _("The study has cost ${spent}; its limit is ${cap}."),
            "pilot": _("The pilot has cost ${spent}; its limit is ${cap}."),
            "collection": _("The collection has cost ${spent}; its limit is ${cap}."),
            "judge": _("The judges have cost ${spent}; their limit is ${cap}."),
            "day": _("Today's calls have cost ${spent}; the daily limit is ${cap}."),
        }
        payer = budget_of.partition(":")[0]
        message = messages[payer if kind == "study" and payer in messages else kind]
        text = message.format(spent=f"{spent_so_far:,.4f}", cap=f"{cap:,.2f}")
        if price and spent_so_far < cap:
            left = _("${left} is left, and the next call could cost up to ${price}.")
            upward = price.quantize(Decimal("0.0001"), ROUND_UP)
            text += " " + left.format(left=f"{cap - spent_so_far:,.4f}", price=f"{upward:,.4f}")
        super().__init__(text)
        self.kind = kind
        self.temporary = temporary


@dataclass(frozen=True)
class _Limit:
    """A limit on the cost of these calls and the reservations that match `under_way`."""

    kind: Kind
    cap: Decimal
    calls: QuerySet[Call]
    under_way: Q

    @property
    def spent(self) -> Decimal:
        return _sum(self.calls)


def _limits(caps: Caps, payer: Payer) -> list[_Limit]:
    limits = []
    if caps.per_match is not None:
        limits.append(_limit_of_match(caps.per_match, payer.match_uid))
    if caps.per_study is not None and payer.budget_of:
        limits.append(_limit_of_study(caps.per_study, payer.budget_of))
    if daily := _limit_of_today():
        limits.append(daily)
    return limits


def _limit_of_match(cap: Decimal, match: uuid.UUID) -> _Limit:
    return _Limit("match", cap, Call.objects.filter(match_uid=match), Q(match_uid=match))


def _limit_of_study(cap: Decimal, budget_of: str) -> _Limit:
    return _Limit("study", cap, Call.objects.filter(budget_of=budget_of), Q(budget_of=budget_of))


def _limit_of_today() -> _Limit | None:
    cap = cap_per_day()
    return None if cap is None else _Limit("day", cap, _calls_of_today(), Q())


def reserve(price: Decimal | None, *, caps: Caps, payer: Payer, seconds: float) -> bool:
    """Reserve the most that a call can cost, replacing what an earlier call for the same question left reserved.

    Args:
        price: in US dollars; None or 0 reserves nothing.
        seconds: how long the call can take.

    Returns:
        whether anything was reserved.

    Raises:
        CapReached: it does not fit into a limit; remembered with the match or budget, unless it is temporary.
    """
    limits = _limits(caps, payer)
    try:
        if price and limits:
            reserving = partial(_reserve, price.quantize(MICRO_DOLLAR, ROUND_UP), limits, payer, seconds)
            try:
                reserving()
            except Budget.DoesNotExist:
                # Not in that transaction: it holds the rows that there are, whatever their order.
                labels = sorted(_labels_of(limits, payer))
                Budget.objects.bulk_create([Budget(label=label) for label in labels], ignore_conflicts=True)
                reserving()
            return True
        if reached := _first_reached(limits, payer.budget_of):
            raise reached
    except CapReached as reached:
        if not reached.temporary:
            label = _label_of_match(payer.match_uid) if reached.kind == "match" else payer.budget_of
            Budget.objects.update_or_create(label=label, defaults={"refusal": str(reached)})
        raise
    return False


def _first_reached(limits: Iterable[_Limit], budget_of: str = "") -> CapReached | None:
    for limit in limits:
        if (spent_so_far := limit.spent) >= limit.cap:
            return CapReached(limit.kind, limit.cap, spent_so_far, budget_of=budget_of)
    return None


@transaction.atomic
def _reserve(price: Decimal, limits: Sequence[_Limit], payer: Payer, seconds: float) -> None:
    budgets = _locked(_labels_of(limits, payer))
    now = timezone.now()
    others = Reservation.objects.filter(until__gt=now).exclude(**vars(payer))
    for limit in limits:
        # Reservations are read first: a call that is recorded in between then counts twice, never not at all.
        under_way = others.filter(limit.under_way).aggregate(all=Sum("price"))["all"] or NOTHING
        spent_so_far = limit.spent
        if spent_so_far + under_way + price > limit.cap:
            temporary = spent_so_far + price <= limit.cap
            raise CapReached(
                limit.kind, limit.cap, spent_so_far, price=price, temporary=temporary, budget_of=payer.budget_of
            )
    until = now + timedelta(seconds=seconds) + RECORDING_TIME
    Reservation.objects.bulk_create(
        [Reservation(**vars(payer), price=price, until=until)],
        update_conflicts=True,
        unique_fields=[*vars(payer)],
        update_fields=["price", "until"],
    )
    if any(budget.refusal for budget in budgets):
        Budget.objects.filter(label=payer.budget_of).update(refusal="")


def _labels_of(limits: Iterable[_Limit], payer: Payer) -> set[str]:
    return {payer.budget_of, *(TODAY for limit in limits if limit.kind == "day")}


def _locked(labels: set[str]) -> list[Budget]:
    """Return the budgets' rows, locked in the same order by everybody, so that one call is reserved at a time.

    Raises:
        Budget.DoesNotExist: one has no row yet.
    """
    locked = list(Budget.objects.select_for_update().filter(label__in=labels).order_by("label"))
    if len(locked) < len(labels):
        raise Budget.DoesNotExist
    return locked


async def reserve_when_free(
    reserving: Callable[[], Awaitable[bool]], *, seconds: float, still_wanted: Callable[[], bool] | None = None
) -> bool:
    """Call `reserve` until the calls under way leave enough; return its result.

    Args:
        seconds: how long to wait at most.
        still_wanted: returns False once nobody waits for the call any longer.

    Raises:
        CapReached
    """
    until = time.monotonic() + seconds
    while True:
        try:
            return await reserving()
        except CapReached as reached:
            waits = time.monotonic() < until and (still_wanted is None or still_wanted())
            if not reached.temporary or not waits:
                raise
        await asyncio.sleep(POLL_SECONDS)


def release(payer: Payer) -> None:
    """Release what is reserved for a question's call, once the call is recorded or was not made."""
    Reservation.objects.filter(**vars(payer)).delete()


def refusal_of(budget_of: str) -> str:
    """Return why the latest call of this budget was refused; empty if it was not."""
    return Budget.objects.filter(label=budget_of).values_list("refusal", flat=True).first() or ""


def forget_refusal(budget_of: str) -> None:
    """Forget why the latest call was refused, because the limit has changed."""
    Budget.objects.filter(label=budget_of).update(refusal="")


def refusal_in_match(caps: Caps, match: uuid.UUID) -> str:
    """Return why the match's own limit refuses or has refused calls; empty if it does not."""
    limits = [] if caps.per_match is None else [_limit_of_match(caps.per_match, match)]
    return refusal_of(_label_of_match(match)) or str(_first_reached(limits) or "")


def refusal_in_study(caps: Caps, budget_of: str) -> str:
    """Return why the limits of a budget or of today refuse calls or refused the latest one; empty if they do not."""
    limits = [] if caps.per_study is None else [_limit_of_study(caps.per_study, budget_of)]
    return refusal_of(budget_of) or str(_first_reached(limits, budget_of) or cap_of_today() or "")


def _label_of_match(match: uuid.UUID) -> str:
    return f"match:{match}"


def cap_of_today() -> CapReached | None:
    """Return the daily limit if it is reached."""
    daily = _limit_of_today()
    return None if daily is None else _first_reached([daily])


def spent_by_label(budget_of: str) -> Decimal:
    """Return the cost of all calls with this label."""
    return _sum(Call.objects.filter(budget_of=budget_of))


def _calls_of_today() -> QuerySet[Call]:
    midnight: datetime = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    return Call.objects.filter(at__gte=midnight)


def cap_per_day() -> Decimal | None:
    """Return the daily limit of this installation; None if there is none.

    Raises:
        ImproperlyConfigured: SPEND_CAP_PER_DAY is not an amount.
    """
    text = str(getattr(settings, "SPEND_CAP_PER_DAY", "") or "").strip()
    if not text:
        return None
    try:
        cap = Decimal(text)
    except InvalidOperation:
        cap = Decimal("NaN")
    if not cap.is_finite() or cap < 0:
        raise ImproperlyConfigured("SPEND_CAP_PER_DAY must be an amount in US dollars, such as 25.00, or empty.")
    return cap


def _sum(calls: QuerySet[Call]) -> Decimal:
    return calls.order_by().aggregate(all=Sum("cost"))["all"] or NOTHING
