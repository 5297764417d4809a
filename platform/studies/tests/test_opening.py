"""A study opens and closes at the times of its plan, by the clock of its time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from audit.models import Record
from plans.checking import check
from plans.moments import moment_of
from studies import opening
from studies.enrolling import NotOpen
from studies.launching import faults_of, launch
from studies.models import LogEntry, Study
from studies.tests import kit
from tests.visitors import arrived_participant

pytestmark = pytest.mark.django_db


def written(hours: float) -> str:
    """Return a time from now in UTC as a plan writes it."""
    return f"{timezone.now() + timedelta(hours=hours):%Y-%m-%d %H:%M}"


def let_pass(study: Study, **times: str) -> None:
    """Let the launched times be others, as if time had passed."""
    for entry in LogEntry.objects.filter(study=study, path="entry"):
        entry.after |= times
        entry.save()


def test_nobody_enters_before_the_opening_whose_time_is_told_in_its_zone():
    study = kit.launched(opens="2030-12-01 09:00", time_zone="Europe/Berlin")
    with pytest.raises(NotOpen, match=r"opens on Sunday 1 December 2030, 09:00 \(Europe/Berlin\)"):
        arrived_participant(study)
    let_pass(study, opens=written(-1), time_zone="UTC")
    assert arrived_participant(study)


def test_the_opening_is_recorded_once():
    study = kit.launched(opens=written(1))
    Study.objects.update(created_at=timezone.now() - timedelta(hours=3))
    opening.carry_out()
    assert not Record.objects.exists()
    let_pass(study, opens=written(-1))
    opening.carry_out()
    opening.carry_out()
    assert [record.action for record in Record.objects.all()] == ["opened"]


def test_a_study_closes_by_the_clock_and_then_by_its_status():
    study = kit.launched(closes=written(2))
    arrived_participant(study)
    let_pass(study, closes=written(-1))
    with pytest.raises(NotOpen, match="has ended"):
        arrived_participant(study, "late")
    assert study.status == "launched"
    opening.carry_out()
    study.refresh_from_db()
    record = Record.objects.get()
    assert (study.status, record.action, record.by) == ("closed", "closed", "")


@pytest.mark.parametrize("field", ["opens", "closes"])
def test_a_time_that_has_passed_is_a_fault_of_its_field(field):
    with pytest.raises(ValidationError) as refusal:
        kit.launched(**{field: "2020-06-01 09:00"})
    (fault,) = faults_of(refusal.value)
    assert fault.at == f"entry.{field}"
    assert "passed: Monday 1 June 2020, 09:00 (UTC)" in fault.what


def test_an_opening_that_has_come_hinders_no_later_launch():
    study = kit.launched(opens=written(1))
    past = written(-1)
    let_pass(study, opens=past)
    study.draft = kit.changed(study.draft, opens=past, quota=30)
    study.save()
    assert launch(study)


@pytest.mark.parametrize(
    "entry, at, what",
    [
        ({"opens": "tomorrow"}, "entry.opens", "such as 2026-12-01 09:00"),
        ({"time_zone": "Berlin"}, "entry.time_zone", "no time zone “Berlin”"),
        ({"opens": "2030-01-02 09:00", "closes": "2030-01-02 09:00"}, "entry.closes", "must close after"),
        ({"time_zone": "Europe/Berlin", "opens": "2030-03-31 02:30"}, "entry.opens", "02:30 does not exist in Europe"),
    ],
)
def test_times_that_cannot_be_are_faults_of_their_fields(entry, at, what):
    (fault,) = check(kit.document(**entry)).faults
    assert fault.at == at and what in fault.what


def test_of_two_moments_that_clocks_show_the_earlier_counts():
    assert moment_of("2030-10-27T02:30", "Europe/Berlin") == datetime(2030, 10, 27, 0, 30, tzinfo=UTC)
