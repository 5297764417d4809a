"""Keeping what the agents did."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import asdict

from llm_agents.pricing import LISTED, PriceList
from llm_agents.record import CallRecord
from opponents.models import Call


def keep_calls(
    *, match_uid: uuid.UUID, role: str, answering: int, calls: Iterable[CallRecord], prices: PriceList = LISTED
) -> None:
    """Write down every call made for one turn, with what it cost."""
    Call.objects.bulk_create(
        Call(
            match_uid=match_uid,
            role=role,
            answering=answering,
            cost=prices.cost(call),
            record=asdict(call),
        )
        for call in calls
    )


def raw_answers(match_uid: uuid.UUID, role: str) -> list[tuple[int, str]]:
    """(answering, text) of every answer of this role's models that became a move, in order."""
    calls = Call.objects.filter(match_uid=match_uid, role=role).order_by("pk").values_list("answering", "record")
    return [
        (answering, record["answer"])
        for answering, record in calls
        if record.get("answer") is not None and record.get("problem") is None
    ]
