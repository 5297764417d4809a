"""Costs of calls are summed, and limits stop new calls."""

from __future__ import annotations

import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from conftest import KIND
from llm_agents.errors import AgentError
from llm_agents.pricing import Price, PriceList
from llm_agents.record import CallRecord
from opponents.models import Budget, Call, Reservation
from opponents.services import record_calls
from opponents.spending import CapReached, Caps, Payer, cap_of_today, cap_per_day, refusal_of, reserve, spent_by_label
from studies.tests.kit import at_once

pytestmark = pytest.mark.django_db

MATCH, OTHER_MATCH = uuid.uuid4(), uuid.uuid4()
DOLLAR = PriceList({"ours:small": Price(input=Decimal(1), output=Decimal(0))})


def call(*, match: uuid.UUID = MATCH, dollars: int = 1, budget_of: str = "", model: str = "small", **changes) -> None:
    """Record a call with this cost."""
    record = CallRecord("openai", model, [], {}, 1, 0.5, input_tokens=dollars * 1_000_000, output_tokens=0)
    record = CallRecord(**{**vars(record), "endpoint": "ours", **changes})
    payer = Payer(match, "alice", 1, budget_of)
    turn = {"match_uid": match, "role": "alice", "answering": 1, "budget_of": budget_of}
    record_calls(calls=[record], prices=DOLLAR, payer=payer, **turn)


def test_sums_by_label_and_limits_only_todays_calls(settings):
    call(dollars=1, budget_of="study:a")
    call(dollars=2, budget_of="study:a", match=OTHER_MATCH)
    call(dollars=4, budget_of="study:b")
    call(model="unpriced")
    assert (spent_by_label("study:a"), spent_by_label("study:c")) == (3, 0)
    settings.SPEND_CAP_PER_DAY = "7"
    assert "have cost $7.0000" in str(cap_of_today())
    Call.objects.filter(budget_of="study:b").update(at=timezone.now() - timedelta(days=1, minutes=1))
    assert cap_of_today() is None


def test_calls_are_recorded_with_their_outcome():
    call()
    call(problem="too much")
    call(error="Unavailable: HTTP 500")
    rows = Call.objects.order_by("pk").values_list("endpoint", "model", "latency", "outcome")
    assert list(rows) == [("ours", "small", 0.5, outcome) for outcome in ("move", "rule_break", "failed")]


def ask(
    price: str | None = "1", *, match: uuid.UUID = MATCH, budget_of: str = "study:a", answering: int = 1, **caps: int
) -> None:
    """Reserve a call of this price."""
    limits = Caps(**{name: Decimal(cap) for name, cap in caps.items()})
    payer = Payer(match, "alice", answering, budget_of)
    reserve(None if price is None else Decimal(price), caps=limits, payer=payer, seconds=60)


def test_without_caps_nothing_is_reserved(django_assert_num_queries):
    call(dollars=1000)
    with django_assert_num_queries(0):
        ask()
    assert not Reservation.objects.exists()


@pytest.mark.parametrize("cap", ["per_match", "per_study", "day"])
def test_cap_allows_only_calls_that_fit(settings, cap):
    settings.SPEND_CAP_PER_DAY = "5" if cap == "day" else ""
    caps = {} if cap == "day" else {cap: 5}
    call(dollars=2, budget_of="study:a")
    call(dollars=2, budget_of="study:a", match=MATCH)
    ask("1", **caps)
    with pytest.raises(
        CapReached, match=r"cost \$4\.0000.*limit is \$5\.00\. \$1\.0000 is left, .* up to \$1\.0001"
    ) as error:
        ask("1.00001", **caps)
    assert not error.value.temporary and isinstance(error.value, AgentError)
    call(dollars=1, budget_of="study:a")
    with pytest.raises(CapReached, match=r"cost \$5\.0000; .*limit is \$5\.00\.$"):
        ask(None, **caps)


def test_calls_under_way_count_until_they_are_recorded():
    ask("3", answering=1, per_study=5)
    with pytest.raises(CapReached) as reached:
        ask("3", answering=2, per_study=5)
    assert reached.value.temporary and refusal_of("study:a") == ""
    ask("3", answering=1, per_study=5)  # asked again by another worker: replaced, not added
    call(dollars=1, budget_of="study:a", answering=1)
    ask("3", answering=2, per_study=5)
    assert [str(reservation.price) for reservation in Reservation.objects.all()] == ["3.000000"]


def test_reservation_of_a_dead_worker_expires():
    ask("5", answering=1, per_study=5)
    Reservation.objects.update(until=timezone.now())
    ask("5", answering=2, per_study=5)


def test_refusal_is_remembered_until_a_call_is_allowed():
    with pytest.raises(CapReached):
        ask("6", per_study=5)
    assert "could cost up to $6.0000" in refusal_of("study:a")
    ask("1", per_study=5)
    assert refusal_of("study:a") == ""


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_calls_at_the_same_time_never_exceed_a_budget():
    """Twenty workers call for a price of at most $0.003, which comes to $0.002, from a budget of $0.01."""

    def work(number: int) -> None:
        match = uuid.UUID(int=number)
        ask("0.003", match=match, per_study=Decimal("0.01"))
        time.sleep(0.02)
        record = CallRecord("openai", "small", [], {}, 1, 0.5, input_tokens=2_000, output_tokens=0, endpoint="ours")
        turn = {"match_uid": match, "role": "alice", "answering": 1, "budget_of": "study:a"}
        record_calls(calls=[record], prices=DOLLAR, payer=Payer(match, "alice", 1, "study:a"), **turn)

    refusals = [each for each in at_once([partial(work, number) for number in range(20)], CapReached) if each]
    assert Call.objects.count() + len(refusals) == 20
    assert 3 <= Call.objects.count() <= 4, "as many as fit, whatever the order"
    assert spent_by_label("study:a") <= Decimal("0.01")
    assert not Reservation.objects.exists()


BLOCKED = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE %s = ANY (pg_blocking_pids(pid)))"


@pytest.mark.services
@pytest.mark.skipif(KIND != "postgres", reason="SQLite locks no rows")
@pytest.mark.django_db(transaction=True)
def test_first_calls_of_a_study_do_not_wait_for_each_other(settings):
    """One call waits for today's row while another one creates the study's; that one then needs today's, too."""
    settings.SPEND_CAP_PER_DAY = "5"
    Budget.objects.create(label="today")
    earlier, other = connection.copy(), connection.copy()

    def lock(holder: BaseDatabaseWrapper, label: str) -> None:
        holder.cursor().execute("SELECT FROM opponents_budget WHERE label = %s FOR UPDATE", [label])

    def until_it_waits_for(holder: BaseDatabaseWrapper) -> None:
        with connection.cursor() as cursor:
            while not cursor.execute(BLOCKED, [holder.connection.info.backend_pid]).fetchone()[0]:
                time.sleep(0.01)

    with closing(earlier), closing(other), ThreadPoolExecutor(1) as pool:
        for holder in (earlier, other):
            holder.set_autocommit(False)
        lock(earlier, "today")
        call_under_test = pool.submit(at_once, [ask])
        until_it_waits_for(earlier)
        Budget.objects.create(label="study:a")
        lock(other, "study:a")
        earlier.commit()
        until_it_waits_for(other)
        lock(other, "today")
        other.commit()
        call_under_test.result()
    assert Reservation.objects.exists()


def test_caps_of_matches_are_independent():
    call(dollars=9, match=OTHER_MATCH, budget_of="study:b")
    ask(per_match=1, per_study=1)


def test_installations_cap_always_applies(settings):
    settings.SPEND_CAP_PER_DAY = "2"
    call()
    ask("1", per_study=100)
    call()
    with pytest.raises(CapReached, match="daily limit"):
        ask("1", per_study=100)
    settings.SPEND_CAP_PER_DAY = ""
    ask()


def test_zero_cap_refuses_the_first_call_even_if_its_price_is_unknown(settings):
    settings.SPEND_CAP_PER_DAY = "0"
    with pytest.raises(CapReached):
        ask(None)


@pytest.mark.parametrize("text", ["lots", "-1", "NaN", "Infinity"])
def test_invalid_cap_prevents_startup(settings, text):
    settings.SPEND_CAP_PER_DAY = text
    with pytest.raises(ImproperlyConfigured, match="SPEND_CAP_PER_DAY"):
        cap_per_day()
