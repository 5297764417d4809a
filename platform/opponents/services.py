"""Record and look up the agents' calls."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection, transaction

from llm_agents.pricing import LISTED, PriceList
from llm_agents.record import CallRecord
from opponents.models import Call
from opponents.spending import Payer, release

_MOVES = (Call.Outcome.MOVE, Call.Outcome.UNPLAYED)
_FIELDS = [field for field in Call._meta.concrete_fields if not field.primary_key]
_INSERT = (
    f"INSERT INTO {Call._meta.db_table} ({', '.join(str(field.column) for field in _FIELDS)}) "
    f"VALUES ({', '.join(['%s'] * len(_FIELDS))}) RETURNING id"
)


@transaction.atomic(savepoint=False)
def record_calls(
    *,
    match_uid: uuid.UUID,
    role: str,
    answering: int,
    calls: Iterable[CallRecord],
    prices: PriceList = LISTED,
    budget_of: str = "",
    played: bool = True,
    payer: Payer | None = None,
) -> int | None:
    """Record every call made for one turn, with its cost, and release what was reserved for them.

    Args:
        answering: the event answered, for calls that do not name one themselves.
        budget_of: the label of the budget, such as "study:trust-1"; `spending.spent_by_label` sums by it.
        played: False if the answer's move is not made yet; `mark_played` records it later.
        payer: for whom something was reserved for the calls; None: nothing was.

    Returns:
        The primary key of the last call whose answer is a move; None if there is none.
    """
    recorded = [
        Call(
            match_uid=match_uid,
            role=role,
            answering=call.answering or answering,
            budget_of=budget_of,
            endpoint=(call.endpoint or call.provider)[:100],
            model=call.model[:200],
            latency=call.latency,
            outcome=outcome_of(call.error, call.problem, played=played or call.purpose != "move"),
            cost=prices.cost(call),
            purpose=call.purpose,
            answer=call.answer,
            record=dict(vars(call)),
        )
        for call in calls
    ]
    _insert(recorded)
    if payer is not None:
        release(payer)
    moves = (call for call in reversed(recorded) if call.outcome in _MOVES and call.purpose == "move")
    return next((call.pk for call in moves), None)


def _insert(calls: Sequence[Call]) -> None:
    """Insert calls and set their keys; composing the statement from model instances takes longer than executing it."""
    with connection.cursor() as cursor:
        for call in calls:
            values = [field.get_db_prep_save(getattr(call, field.attname), connection) for field in _FIELDS]
            cursor.execute(_INSERT, values)
            (call.pk,) = cursor.fetchone()


def mark_played(call: int) -> None:
    """Record that this call's answer is the move of its turn; call it in the move's own transaction."""
    Call.objects.filter(pk=call).update(outcome=Call.Outcome.MOVE)


def latest_call(match_uid: uuid.UUID, role: str, purposes: Iterable[str]) -> CallRecord | None:
    """Return the role's latest successful call with any of these purposes."""
    calls = Call.objects.filter(match_uid=match_uid, role=role, purpose__in=list(purposes), outcome__in=_MOVES)
    record = calls.order_by("-pk").values_list("record", flat=True).first()
    return None if record is None else CallRecord(**record)


def raw_answers(match_uid: uuid.UUID, role: str) -> list[tuple[int, str]]:
    """Return (answering, text) for every answer by this role's models that became a move, in order."""
    moves = Call.objects.filter(match_uid=match_uid, role=role, purpose="move", outcome=Call.Outcome.MOVE)
    answers = moves.exclude(answer=None).order_by("pk").values_list("answering", "answer")
    return [(answering, answer) for answering, answer in answers if answer is not None]


def outcome_of(error: str | None, problem: str | None, *, played: bool = True) -> Call.Outcome:
    """Return the outcome of a call with this record."""
    if error:
        return Call.Outcome.FAILED
    if problem:
        return Call.Outcome.RULE_BREAK
    return Call.Outcome.MOVE if played else Call.Outcome.UNPLAYED


def records_of(match_uid: uuid.UUID) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Return the records of a match's calls, each with its `outcome`, by role and answering event, in order."""
    records: dict[tuple[str, int], list[dict[str, Any]]] = {}
    calls = Call.objects.filter(match_uid=match_uid).order_by("pk")
    for role, answering, outcome, record in calls.values_list("role", "answering", "outcome", "record"):
        records.setdefault((role, answering), []).append({**record, "outcome": outcome})
    return records
