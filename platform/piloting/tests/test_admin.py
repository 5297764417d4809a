"""Pilots in the admin: run and deleted by editors of the study, visible to its viewers."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from audit.models import Record
from piloting import driver, services
from piloting.models import Pilot, Walker
from studies.models import Study
from studies.tests.kit import new_study, staff
from tests.visitors import text_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study() -> Study:
    return new_study("splitting", title="Splitting", agents="script:fair")


def begin(client: Client, study: Study, **fields):
    data = {"people": "3", "failing": "1", "player": "script:haggler", **fields}
    return client.post(reverse("admin:piloting_pilot_begin", args=[study.pk]), data)


def page(name: str, pilot: Pilot) -> str:
    return reverse(f"admin:piloting_pilot_{name}", args=[pilot.pk])


def test_pilot_from_start_to_deletion(client, boss, study):
    card = client.get(reverse("admin:studies_study_change", args=[study.pk])).content.decode()
    assert reverse("admin:piloting_pilot_begin", args=[study.pk]) in card
    started = begin(client, study)
    pilot = Pilot.objects.get()
    assert started["Location"] == pilot.get_absolute_url()
    assert (pilot.people, pilot.created_by) == (3, boss)
    running_page = client.get(started["Location"])
    assert "Pilot 1: 0 of 3 participants finished" in text_of(running_page)
    assert b"data-alive" in running_page.content
    driver.drive(pilot.pk)
    finished_page = client.get(started["Location"])
    text = text_of(finished_page)
    assert "Pilot 1: 3 participants finished" in text
    assert "An estimate, not a measurement" in text
    assert "failed the attention check" in text
    assert "the announced average is" in text
    match = Walker.objects.exclude(enrolment__seats=None).first().enrolment.seats.get().match
    transcript = reverse("admin:matches_match_change", args=[match.pk])
    assert transcript in finished_page.content.decode()
    assert client.get(transcript).status_code == 200
    assert b"data-alive" not in client.get(page("progress", pilot)).content
    assert "Pilot 1 of Splitting" in text_of(client.get(reverse("admin:piloting_pilot_changelist")))
    assert client.post(page("remove", pilot))["Location"] == reverse("admin:studies_study_change", args=[study.pk])
    assert not Pilot.objects.exists()
    records = Record.objects.filter(of_kind="studies.study", of_key=study.pk).order_by("pk")
    assert [(record.action, record.by, record.title) for record in records] == [
        ("piloted", "boss", "Pilot 1 of Splitting"), ("deleted", "boss", "Pilot 1 of Splitting"),
    ]  # fmt: skip
    assert records[0].details["people"] == 3 and records[0].details["player"] == "script:haggler"


@pytest.mark.parametrize("fields", [{"people": "0"}, {"people": "many"}, {"failing": "9"}, {"player": "script:nobody"}])
def test_pilot_problems_are_shown_on_the_studys_page(client, boss, study, fields):
    response = begin(client, study, **fields)
    assert response["Location"] == reverse("admin:studies_study_change", args=[study.pk])
    assert client.get(response["Location"]).context["messages"]
    assert not Pilot.objects.exists()


def test_viewers_of_the_study_see_its_pilots(client, study):
    staff(client, study, role="viewer")
    pilot = services.begin(study, people=1)
    assert client.get(pilot.get_absolute_url()).status_code == 200
    assert client.get(page("progress", pilot)).status_code == 200
    assert b'name="people"' not in client.get(pilot.get_absolute_url()).content
    driver.drive(pilot.pk)
    person = Walker.objects.get().enrolment
    match_page = reverse("admin:matches_match_change", args=[person.seats.get().match_id])
    assert match_page in client.get(pilot.get_absolute_url()).content.decode()
    assert client.get(match_page).status_code == 200
    assert begin(client, study).status_code == 403
    for action in ("stop", "remove"):
        assert client.post(page(action, pilot)).status_code == 403
    assert Pilot.objects.get().status == Pilot.Status.DONE


def test_editors_start_stop_and_delete(client, study):
    staff(client, study, role="editor")
    begin(client, study)
    pilot = Pilot.objects.get()
    client.post(page("stop", pilot))
    assert Pilot.objects.get().status == Pilot.Status.STOPPED
    client.post(page("remove", pilot))
    assert not Pilot.objects.exists()
    records = Record.objects.filter(of_kind="studies.study", of_key=study.pk).order_by("pk")
    assert [record.action for record in records if record.by == "staff"] == ["piloted", "stopped", "deleted"]


def test_refused_actions_are_not_recorded(client, boss, study):
    pilot = services.begin(study, people=1)
    client.post(page("remove", pilot))
    begin(client, study)
    assert Pilot.objects.get().running and not Record.objects.exclude(action="signed_in").exists()


def test_pilots_are_hidden_from_non_members(client, study):
    staff(client, study)
    pilot = services.begin(study, people=1)
    for address in (pilot.get_absolute_url(), page("progress", pilot)):
        assert client.get(address).status_code == 404
    assert "Splitting" not in client.get(reverse("admin:piloting_pilot_changelist")).content.decode()
    assert client.post(page("stop", pilot)).status_code == 404
    assert begin(client, study).status_code == 404
    assert Pilot.objects.get().running


def test_problems_are_escaped_and_show_no_token(client, boss, study):
    pilot = services.begin(study, people=1)
    driver.drive(pilot.pk)
    Walker.objects.update(status=Walker.Status.STUCK, problem="<script>alert(1)</script>")
    html = client.get(pilot.get_absolute_url()).content.decode()
    assert "<script>alert" not in html and "&lt;script&gt;alert" in html
    assert Walker.objects.get().enrolment.token not in html
