"""Our outages in the lobby: nobody's place, wait or start ends by them, and pages have time to come back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from lobby import services, times
from lobby.models import Group, Place
from lobby.step import answer_request
from lobby.tests.test_lobby import arrive_at_lobby, refreshed_states
from participants.models import Enrolment
from participants.states import State
from uptime import services as uptimes
from uptime.models import Heartbeat, Outage

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


@pytest.fixture(autouse=True)
def nothing_remembered():
    uptimes.forget()
    yield
    uptimes.forget()


def outage(*, began: float, ended: float) -> None:
    """Record an outage that began and ended this many seconds ago; the server has answered since."""
    now = timezone.now()
    Outage.objects.create(began_at=now - seconds(began), ended_at=now - seconds(ended))
    Heartbeat.objects.update_or_create(pk=Heartbeat.ONLY, defaults={"at": now})
    uptimes.forget()


def heard(enrolment: Enrolment, ago: float) -> None:
    Place.objects.filter(enrolment=enrolment).update(heard_at=timezone.now() - seconds(ago))


def present(enrolments: list[Enrolment]) -> list[bool]:
    (hall_id, pool) = Place.objects.values_list("hall", "pool").first()
    here = set(services.present(hall_id, pool).values_list("enrolment", flat=True))
    return [enrolment.pk in here for enrolment in enrolments]


def test_who_was_present_when_the_outage_began_has_time_to_reconnect():
    enrolments = arrive_at_lobby(3)
    for enrolment, ago in zip(enrolments, [42, 52, 58], strict=True):
        heard(enrolment, ago)
    outage(began=40, ended=10)
    assert present(enrolments) == [True, True, False]
    assert answer_request(enrolments[2].token)["kept"] == pytest.approx(times.PRESENT_SECONDS, abs=1)
    Outage.objects.all().delete()
    outage(began=40, ended=15.5)
    assert present(enrolments) == [False, False, True]


def test_wait_does_not_end_before_the_pages_are_back():
    (single,) = arrive_at_lobby(1)
    heard(single, 42)
    Place.objects.update(since=timezone.now() - seconds(340), until=timezone.now() - seconds(39.9))
    outage(began=40, ended=1)
    services.sweep()
    assert refreshed_states([single]) == [State.WAITING]
    assert answer_request(single.token)["remaining"] == pytest.approx(14, abs=1)
    Place.objects.update(until=timezone.now() - seconds(59.9))
    Outage.objects.all().delete()
    outage(began=60, ended=16)
    services.sweep()
    assert refreshed_states([single]) == [State.NO_PARTNER]


def test_time_to_get_ready_is_extended():
    enrolments = arrive_at_lobby(4, ready=20)
    Group.objects.update(made_at=timezone.now() - seconds(60), until=timezone.now() - seconds(40))
    outage(began=50, ended=16)
    services.sweep()
    assert [answer_request(enrolment.token)["stage"] for enrolment in enrolments] == ["ready"] * 4
    Group.objects.update(made_at=timezone.now() - seconds(80), until=timezone.now() - seconds(60))
    services.sweep()
    assert not Group.objects.filter(made_at__lt=timezone.now() - seconds(70)).exists()
