"""What calls have cost, and caps that stop new ones; records are kept whatever they cost.

A call whose price is not known counts as nothing (`health` shows how many there are), and calls that
are under way when a cap is reached are still made and paid.
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
    """US dollars that may be spent; None: any amount.

    The installation's own cap per day, SPEND_CAP_PER_DAY, holds as well, whatever `per_day` says.
    """

    per_match: Decimal | None = None
    per_study: Decimal | None = None
    per_day: Decimal | None = None


class CapReached(AgentError):
    """No more calls: what may be spent is spent.

    Attributes:
        kind: which cap it is.
    """

    def __init__(self, kind: Kind, cap: Decimal, so_far: Decimal):
        words = {
            "match": _("The match has cost ${spent}; its cap is ${cap}."),
            "study": _("The study has cost ${spent}; its cap is ${cap}."),
            "day": _("Today's calls have cost ${spent}; the cap per day is ${cap}."),
        }
        super().__init__(words[kind].format(spent=f"{so_far:,.4f}", cap=f"{cap:,.2f}"))
        self.kind = kind


def refuse_over(
    caps: Caps,
    *,
    match_uid: uuid.UUID | None = None,
    study_match_uids: Iterable[uuid.UUID] | QuerySet[Any] | None = None,
    budget_of: str = "",
) -> None:
    """Let a new call through only while every cap has something left.

    Args:
        study_match_uids: the study's matches, best as a query of their identifiers; for calls without label.
        budget_of: or the label that its calls were kept with, which is cheaper.

    Raises:
        CapReached: one has nothing left.
    """
    if match_uid is not None and (reached := cap_of_match(caps, match_uid)):
        raise reached
    if caps.per_study is not None and (budget_of or study_match_uids is not None):
        so_far = spent_of(budget_of) if budget_of else spent_in_study(study_match_uids or ())
        if so_far >= caps.per_study:
            raise CapReached("study", caps.per_study, so_far)
    if reached := cap_of_today(caps.per_day):
        raise reached


def cap_of_today(per_day: Decimal | None = None) -> CapReached | None:
    """The cap per day that has nothing left, if one has; the installation's own always counts."""
    days = [cap for cap in (per_day, cap_per_day()) if cap is not None]
    if days and (so_far := spent_today()) >= min(days):
        return CapReached("day", min(days), so_far)
    return None


def cap_of_match(caps: Caps, match: uuid.UUID) -> CapReached | None:
    """The cap of a match that has nothing left, if it has one."""
    if caps.per_match is not None and (so_far := spent(match=match)) >= caps.per_match:
        return CapReached("match", caps.per_match, so_far)
    return None


def cap_of_study(caps: Caps, budget_of: str) -> CapReached | None:
    """The cap of a study that has nothing left, if it has one; its calls are kept with the label `budget_of`."""
    if caps.per_study is not None and (so_far := spent_of(budget_of)) >= caps.per_study:
        return CapReached("study", caps.per_study, so_far)
    return None


def spent(*, match: uuid.UUID) -> Decimal:
    """By one match."""
    return _sum(Call.objects.filter(match_uid=match))


def spent_in_study(match_uids: Iterable[uuid.UUID] | QuerySet[Any]) -> Decimal:
    """By the matches with these identifiers, in one query where they are one themselves."""
    return _sum(Call.objects.filter(match_uid__in=match_uids))


def spent_of(budget_of: str) -> Decimal:
    """By all calls with this label."""
    return _sum(Call.objects.filter(budget_of=budget_of))


def spent_today() -> Decimal:
    """Since midnight."""
    return spent_since(timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0))


def spent_since(moment: datetime) -> Decimal:
    """By all calls from this moment on."""
    return _sum(Call.objects.filter(at__gte=moment))


def cap_per_day() -> Decimal | None:
    """The installation's own cap.

    Raises:
        ImproperlyConfigured: SPEND_CAP_PER_DAY is no amount.
    """
    written = str(getattr(settings, "SPEND_CAP_PER_DAY", "") or "").strip()
    if not written:
        return None
    try:
        cap = Decimal(written)
    except InvalidOperation:
        cap = Decimal("NaN")
    if not cap.is_finite() or cap < 0:
        raise ImproperlyConfigured("SPEND_CAP_PER_DAY is an amount in US dollars, such as 25.00, or empty.")
    return cap


def _sum(calls: QuerySet[Call]) -> Decimal:
    return calls.order_by().aggregate(all=Sum("cost"))["all"] or NOTHING
