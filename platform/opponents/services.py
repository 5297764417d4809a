"""Keeping what the agents did."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from llm_agents.pricing import LISTED, PriceList
from llm_agents.record import CallRecord
from opponents.models import Call


def keep_calls(
    *,
    match_uid: uuid.UUID,
    role: str,
    answering: int,
    calls: Iterable[CallRecord],
    prices: PriceList = LISTED,
    budget_of: str = "",
) -> None:
    """Write down every call made for one turn, with what it cost.

    Args:
        budget_of: whose money it was, such as "study:trust-1"; `spending.spent_of` sums by it.
    """
    Call.objects.bulk_create(
        Call(
            match_uid=match_uid,
            role=role,
            answering=answering,
            budget_of=budget_of,
            endpoint=(call.endpoint or call.provider)[:100],
            model=call.model[:200],
            latency=call.latency,
            outcome=outcome_of(call.error, call.problem),
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


def outcome_of(error: str | None, problem: str | None) -> Call.Outcome:
    """What came of a call whose record says this."""
    if error:
        return Call.Outcome.FAILED
    return Call.Outcome.RULE_BREAK if problem else Call.Outcome.MOVE


def records_of(match_uid: uuid.UUID) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """The records of a match's calls, by role and answering event, in order."""
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    calls = Call.objects.filter(match_uid=match_uid).order_by("pk")
    for role, answering, record in calls.values_list("role", "answering", "record"):
        found.setdefault((role, answering), []).append(record)
    return found
