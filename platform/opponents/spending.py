"""Spending and spending limits. Every call is recorded, whatever it costs.

A call with unknown price counts as free (`health` shows how many there are). Calls under way when a limit is
reached are completed and paid.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.models import QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from llm_agents.errors import AgentError
from opponents.models import Call

NOTHING = Decimal(0)
Kind = Literal["match", "study", "day"]


@dataclass(frozen=True)
class Caps:
    """Limits in US dollars; None means no limit.

    The installation's own daily limit, SPEND_CAP_PER_DAY, always applies, whatever `per_day` is.
    """

    per_match: Decimal | None = None
    per_study: Decimal | None = None
    per_day: Decimal | None = None


class CapReached(AgentError):
    """A spending limit is reached, so no more calls are made.

    Attributes:
        kind: which limit it is.
    """

    def __init__(self, kind: Kind, cap: Decimal, spent_so_far: Decimal):
        messages = {
            "match": _("The match has cost ${spent}; its limit is ${cap}."),
            "study": _("The study has cost ${spent}; its limit is ${cap}."),
            "day": _("Today's calls have cost ${spent}; the daily limit is ${cap}."),
        }
        super().__init__(messages[kind].format(spent=f"{spent_so_far:,.4f}", cap=f"{cap:,.2f}"))
        self.kind = kind


def check_caps(
    caps: Caps,
    *,
    match_uid: uuid.UUID | None = None,
    study_match_uids: Iterable[uuid.UUID] | QuerySet[Any] | None = None,
    budget_of: str = "",
) -> None:
    """Raise an error if any limit is reached.

    Args:
        study_match_uids: identifiers of the study's matches, preferably as a query; for calls without a label.
        budget_of: the label of the study's calls; cheaper than `study_match_uids`.

    Raises:
        CapReached: a limit is reached.
    """
    if match_uid is not None and (reached := cap_of_match(caps, match_uid)):
        raise reached
    if caps.per_study is not None and (budget_of or study_match_uids is not None):
        spent_so_far = spent_by_label(budget_of) if budget_of else spent_in_study(study_match_uids or ())
        if spent_so_far >= caps.per_study:
            raise CapReached("study", caps.per_study, spent_so_far)
    if reached := cap_of_today(caps.per_day):
        raise reached


def cap_of_today(per_day: Decimal | None = None) -> CapReached | None:
    """Return the daily limit that is reached, if any; the installation's own always applies."""
    caps = [cap for cap in (per_day, cap_per_day()) if cap is not None]
    if caps and (spent_so_far := spent_today()) >= min(caps):
        return CapReached("day", min(caps), spent_so_far)
    return None


def cap_of_match(caps: Caps, match: uuid.UUID) -> CapReached | None:
    """Return the match's limit if it is reached."""
    if caps.per_match is not None and (spent_so_far := spent(match=match)) >= caps.per_match:
        return CapReached("match", caps.per_match, spent_so_far)
    return None


def cap_of_study(caps: Caps, budget_of: str) -> CapReached | None:
    """Return the study's limit if it is reached; its calls have the label `budget_of`."""
    if caps.per_study is not None and (spent_so_far := spent_by_label(budget_of)) >= caps.per_study:
        return CapReached("study", caps.per_study, spent_so_far)
    return None


def spent(*, match: uuid.UUID) -> Decimal:
    """Return the cost of one match."""
    return _sum(Call.objects.filter(match_uid=match))


def spent_in_study(match_uids: Iterable[uuid.UUID] | QuerySet[Any]) -> Decimal:
    """Return the cost of the matches with these identifiers; if they are given as a query, one query computes it."""
    return _sum(Call.objects.filter(match_uid__in=match_uids))


def spent_by_label(budget_of: str) -> Decimal:
    """Return the cost of all calls with this label."""
    return _sum(Call.objects.filter(budget_of=budget_of))


def spent_today() -> Decimal:
    """Return the cost since midnight."""
    return spent_since(timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0))


def spent_since(moment: datetime) -> Decimal:
    """Return the cost of all calls since this moment."""
    return _sum(Call.objects.filter(at__gte=moment))


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
