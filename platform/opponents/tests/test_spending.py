"""Costs of calls are summed, and limits stop new calls."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import timezone

from llm_agents.errors import AgentError
from llm_agents.pricing import Price, PriceList
from llm_agents.record import CallRecord
from matches.models import Match
from opponents.models import Call
from opponents.services import record_calls
from opponents.spending import (
    CapReached,
    Caps,
    cap_per_day,
    check_caps,
    spent,
    spent_by_label,
    spent_in_study,
    spent_today,
)

pytestmark = pytest.mark.django_db

MATCH, OTHER_MATCH = uuid.uuid4(), uuid.uuid4()
DOLLAR = PriceList({"ours:small": Price(input=Decimal(1), output=Decimal(0))})


def call(*, match: uuid.UUID = MATCH, dollars: int = 1, budget_of: str = "", model: str = "small", **changes) -> None:
    """Record a call with this cost."""
    record = CallRecord("openai", model, [], {}, 1, 0.5, input_tokens=dollars * 1_000_000, output_tokens=0)
    record = CallRecord(**{**vars(record), "endpoint": "ours", **changes})
    record_calls(match_uid=match, role="alice", answering=1, calls=[record], prices=DOLLAR, budget_of=budget_of)


def test_sums_by_match_study_label_and_day():
    call(dollars=1, budget_of="study:a")
    call(dollars=2, budget_of="study:a", match=OTHER_MATCH)
    call(dollars=4, budget_of="study:b")
    call(model="unpriced")
    assert (spent(match=MATCH), spent(match=OTHER_MATCH)) == (5, 2)
    assert spent_in_study([MATCH, OTHER_MATCH]) == 7
    assert spent_in_study(Match.objects.filter(uid=MATCH).values("uid")) == 0
    assert (spent_by_label("study:a"), spent_by_label("study:c")) == (3, 0)
    assert spent_today() == 7
    Call.objects.filter(budget_of="study:b").update(at=timezone.now() - timedelta(days=1, minutes=1))
    assert spent_today() == 3


def test_calls_are_recorded_with_their_outcome():
    call()
    call(problem="too much")
    call(error="Unavailable: HTTP 500")
    rows = Call.objects.order_by("pk").values_list("endpoint", "model", "latency", "outcome")
    assert list(rows) == [("ours", "small", 0.5, outcome) for outcome in ("move", "rule_break", "failed")]


def test_without_caps_nothing_is_refused(django_assert_num_queries):
    call(dollars=1000)
    with django_assert_num_queries(0):
        check_caps(Caps(), match_uid=MATCH, study_match_uids=[MATCH], budget_of="study:a")


@pytest.mark.parametrize(
    "caps, kind",
    [
        (Caps(per_match=Decimal(3)), "match"),
        (Caps(per_study=Decimal(5)), "study"),
        (Caps(per_day=Decimal(6)), "day"),
    ],
)
def test_cap_allows_calls_until_reached(caps, kind):
    def ask():
        check_caps(caps, match_uid=MATCH, study_match_uids=[MATCH, OTHER_MATCH])

    call(dollars=2)
    call(dollars=2, match=OTHER_MATCH)
    ask()
    call(dollars=2)
    if kind == "day":
        with pytest.raises(CapReached):
            ask()
    else:
        with pytest.raises(CapReached, match=r"\$[46]\.0000.*\$[35]\.00") as reached:
            ask()
        assert reached.value.kind == kind and isinstance(reached.value, AgentError)


def test_caps_of_matches_are_independent():
    call(dollars=9, match=OTHER_MATCH, budget_of="study:b")
    check_caps(Caps(per_match=Decimal(1), per_study=Decimal(1)), match_uid=MATCH, budget_of="study:a")


def test_study_spending_is_found_by_label():
    call(budget_of="study:a")
    with pytest.raises(CapReached, match="study"):
        check_caps(Caps(per_study=Decimal(1)), budget_of="study:a")


def test_a_study_without_matches_has_spent_nothing():
    call()
    check_caps(Caps(per_study=Decimal(1)), study_match_uids=[])


def test_installations_cap_always_applies(settings):
    settings.SPEND_CAP_PER_DAY = "2"
    call()
    check_caps(Caps(per_day=Decimal(100)))
    call()
    with pytest.raises(CapReached, match="daily limit"):
        check_caps(Caps(per_day=Decimal(100)))
    settings.SPEND_CAP_PER_DAY = ""
    check_caps(Caps())


def test_zero_cap_refuses_the_first_call(settings):
    settings.SPEND_CAP_PER_DAY = "0"
    with pytest.raises(CapReached):
        check_caps(Caps())


@pytest.mark.parametrize("text", ["lots", "-1", "NaN", "Infinity"])
def test_invalid_cap_prevents_startup(settings, text):
    settings.SPEND_CAP_PER_DAY = text
    with pytest.raises(ImproperlyConfigured, match="SPEND_CAP_PER_DAY"):
        cap_per_day()


def test_reached_cap_keeps_the_records():
    call(dollars=5)
    with pytest.raises(CapReached):
        check_caps(Caps(per_match=Decimal(1)), match_uid=MATCH)
    call(dollars=5)
    assert spent(match=MATCH) == 10
