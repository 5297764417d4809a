"""Which rows belong to a collection, so that only its members see them."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from audit.models import Record
from collecting.models import Collection, Item
from matches.models import Match
from opponents.models import Call
from rights.members import creators_own
from rights.parts import belongs
from rights.records import recorded_of


def _call_of(collections: QuerySet[Collection]) -> Q:
    return Q(match_uid__in=Item.objects.filter(collection__in=collections, match__isnull=False).values("match__uid"))


def declare() -> None:
    """Declare what belongs to collections, and who owns a new one."""
    creators_own(Collection)
    belongs(Collection, to=Collection, by="pk")
    belongs(Item, to=Collection, by="collection")
    belongs(Match, to=Collection, by="item__collection")
    belongs(Call, to=Collection, by=_call_of)
    belongs(Record, to=Collection, by=recorded_of(Collection))
