"""Outages are what lies between two heartbeats, and deadlines are extended by them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from uptime import heartbeat, services
from uptime.models import Heartbeat, Outage

START = datetime(2026, 11, 23, 12, tzinfo=UTC)


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


@pytest.fixture
def clock(db: None, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the second at which it is now, in a list so that the test can set it."""
    seconds = [0.0]
    monkeypatch.setattr(services.timezone, "now", lambda: at(seconds[0]))
    monkeypatch.setattr(services, "MEMORY_SECONDS", -1)
    services.forget()
    return seconds


@given(length=st.integers(1, 60), edges=st.sets(st.integers(-40, 200), max_size=8).map(sorted))
def test_a_deadline_is_extended_by_every_second_of_outage(length: int, edges: list[int]):
    gaps = list(zip(edges[::2], edges[1::2], strict=False))
    served, second = 0, 0
    while served < length:
        served += not any(began <= second < ended for began, ended in gaps)
        second += 1
    uptime = services.Uptime(at(1000), at(1000), tuple((at(began), at(ended)) for began, ended in gaps))
    assert uptime.extended(at(0), at(length)) == at(second)
    assert uptime.served(at(0), at(second)) == timedelta(seconds=length)


class TestBeats:
    def beat(self, clock: list[float], *seconds: float) -> None:
        for clock[0] in seconds:
            services.beat()

    def intervals(self) -> list[tuple[datetime, datetime]]:
        return list(Outage.objects.values_list("began_at", "ended_at"))

    def test_without_heartbeats_everything_counts_as_served(self, clock):
        assert services.uptime().beat_at is None
        assert services.uptime().gaps == ()
        assert services.has_passed(at(-1000), at(-1))

    def test_a_gap_of_heartbeats_is_an_outage(self, clock):
        self.beat(clock, 0, 1, 2, 32, 33, 36)
        assert self.intervals() == [(at(2), at(32))]

    def test_a_process_spares_a_heartbeat_that_another_has_sent(self, clock):
        self.beat(clock, 0, 1, 1.5)
        assert Heartbeat.objects.get().at == at(1)

    def test_an_outage_that_is_going_on_ends_now(self, clock):
        self.beat(clock, 0, 1)
        clock[0] = 21
        assert services.uptime().gaps == ((at(1), at(21)),)
        assert services.uptime().extended(at(0), at(10)) == at(30)
        assert not services.has_passed(at(0), at(10))

    def test_a_server_that_has_just_died_charges_nobody(self, clock):
        self.beat(clock, 0, 1, 2)
        clock[0] = 4.5
        assert services.uptime().gaps == ()
        assert services.has_passed(at(0), at(2)) and not services.has_passed(at(0), at(3))

    def test_memory_is_read_again_after_an_outage(self, clock, monkeypatch):
        self.beat(clock, 0)
        monkeypatch.setattr(services, "MEMORY_SECONDS", 1000)
        assert services.uptime().gaps == ()
        Heartbeat.objects.update(at=at(31))
        Outage.objects.create(began_at=at(0), ended_at=at(30))
        monkeypatch.setattr(services, "MEMORY_SECONDS", -1)
        clock[0] = 31
        assert services.uptime().gaps == ((at(0), at(30)),)

    @pytest.mark.parametrize(("seen", "lost"), [(-20, False), (-10, True), (15, True), (31, False)])
    def test_who_was_there_when_it_began_and_never_came_back_was_lost_in_it(self, clock, seen, lost):
        self.beat(clock, 0, 30, 31, 32)
        assert services.uptime().lost(at(seen)) == lost


def test_no_heartbeat_is_sent_while_redis_hangs(db, redis_hangs):
    services.forget()
    heartbeat.beat_if_available()
    before = Heartbeat.objects.get().at
    with redis_hangs():
        Heartbeat.objects.update(at=before - timedelta(seconds=2))
        heartbeat.beat_if_available()
        assert Heartbeat.objects.get().at == before - timedelta(seconds=2)
    heartbeat.beat_if_available()
    assert timezone.now() - Heartbeat.objects.get().at < timedelta(seconds=5)
