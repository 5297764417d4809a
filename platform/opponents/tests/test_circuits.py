"""All processes share circuits: they pause a failing endpoint and resume when a call succeeds in any of them."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from django.utils import timezone

from llm_agents import breaker
from llm_agents.breaker import BREAKERS, Breakers
from opponents import circuits
from opponents.circuits import apply_changes, open_circuits, write
from opponents.endpoints import refresh_if_old
from opponents.models import Circuit

SECOND = timedelta(seconds=1)


def fail(name: str = "ours") -> None:
    for _ in range(5):
        BREAKERS.failed(name)


@pytest.mark.django_db(transaction=True)
def test_opened_circuit_is_recorded_and_closed_again():
    fail()
    circuits.wait_until_written()
    assert Circuit.objects.get(endpoint="ours").open_until > timezone.now()
    assert "ours" in open_circuits()
    BREAKERS.succeeded("ours")
    circuits.wait_until_written()
    assert Circuit.objects.get(endpoint="ours").open_until is None
    assert "ours" not in open_circuits()


@pytest.mark.django_db(transaction=True)
def test_circuit_is_recorded_inside_an_event_loop():
    async def failing() -> None:
        fail()

    asyncio.run(failing())
    circuits.wait_until_written()
    assert "ours" in open_circuits()


def test_pause_lasts_as_long_as_the_breaker_says():
    now = [0.0]
    breakers = Breakers(clock=lambda: now[0])
    for _ in range(5):
        breakers.failed("ours")
    now[0] = circuits.PAUSE.total_seconds() - 0.01
    assert breakers.state("ours") == "open"
    now[0] = circuits.PAUSE.total_seconds()
    assert breakers.state("ours") == "half-open"


@pytest.mark.django_db
def test_other_processes_apply_it_on_reading():
    write("ours", "open", timezone.now())
    assert breaker.state("ours") == "closed"
    refresh_if_old()
    assert breaker.state("ours") == "open"


@pytest.mark.django_db
def test_success_elsewhere_closes_the_circuit():
    write("ours", "open", timezone.now() - 2 * SECOND)
    apply_changes()
    write("ours", "closed", timezone.now() - SECOND)
    apply_changes()
    assert breaker.state("ours") == "closed"


@pytest.mark.django_db
def test_expired_pause_does_not_open_the_circuit():
    write("ours", "open", timezone.now() - circuits.PAUSE)
    apply_changes()
    assert breaker.state("ours") == "closed"
    assert "ours" not in open_circuits()


@pytest.mark.django_db(transaction=True)
def test_older_failures_do_not_undo_a_later_success():
    write("ours", "open", timezone.now() - SECOND)
    apply_changes()
    BREAKERS.succeeded("ours")
    apply_changes()
    assert breaker.state("ours") == "closed"


@pytest.mark.django_db
def test_late_writes_do_not_undo_newer_ones():
    now = timezone.now()
    write("ours", "closed", now)
    write("ours", "open", now - SECOND)
    assert "ours" not in open_circuits()


@pytest.mark.django_db
def test_earlier_success_does_not_close_a_later_failure():
    write("ours", "closed", timezone.now() - SECOND)
    breaker.trip("ours")
    apply_changes()
    assert breaker.state("ours") == "open"


@pytest.mark.django_db(transaction=True)
def test_recorded_success_does_not_forget_later_failures():
    write("ours", "closed", timezone.now() - SECOND)
    for _ in range(5):
        BREAKERS.failed("ours")
        apply_changes()
    assert breaker.state("ours") == "open"
