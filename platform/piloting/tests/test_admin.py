"""Pilots in the admin: begun, read and deleted by whoever may change the study, seen by whoever may see it."""

from __future__ import annotations

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from piloting import driver, services
from piloting.models import Pilot, Walker
from studies.models import Study
from tests.visitors import text_of

pytestmark = [pytest.mark.services, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def study() -> Study:
    return Study.objects.create(
        title="Splitting", slug="splitting", game="bargaining", roles=["alice"], agent="script:fair"
    )


@pytest.fixture
def boss(client: Client) -> User:
    user = User.objects.create_superuser("boss", password="long enough 123")
    client.force_login(user)
    return user


def staff(client: Client, *permissions: str) -> None:
    user = User.objects.create_user("staff", password="long enough 123", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    client.force_login(user)


def begin(client: Client, study: Study, **asked):
    given = {"people": "3", "failing": "1", "player": "script:haggler", **asked}
    return client.post(reverse("admin:piloting_pilot_begin", args=[study.pk]), given)


def page(name: str, pilot: Pilot) -> str:
    return reverse(f"admin:piloting_pilot_{name}", args=[pilot.pk])


def test_from_a_draft_to_a_report_and_away_again(client, boss, study):
    card = client.get(reverse("admin:studies_study_change", args=[study.pk])).content.decode()
    assert reverse("admin:piloting_pilot_begin", args=[study.pk]) in card
    begun = begin(client, study)
    pilot = Pilot.objects.get()
    assert begun["Location"] == pilot.get_absolute_url()
    assert (pilot.people, pilot.created_by) == (3, boss)
    running = client.get(begun["Location"])
    assert "Pilot 1: 0 of 3 people are through" in text_of(running)
    assert b"data-alive" in running.content
    driver.drive(pilot.pk)
    done = client.get(begun["Location"])
    said = text_of(done)
    assert "Pilot 1: 3 people went through" in said
    assert "An estimate, not a measurement" in said
    assert "failed the code word" in said
    assert "are announced" in said
    game = Walker.objects.exclude(enrolment__seats=None).first().enrolment.seats.get().match
    transcript = reverse("admin:matches_match_change", args=[game.pk])
    assert transcript in done.content.decode()
    assert client.get(transcript).status_code == 200
    assert b"data-alive" not in client.get(page("progress", pilot)).content
    assert "Pilot 1 of Splitting" in text_of(client.get(reverse("admin:piloting_pilot_changelist")))
    assert client.post(page("remove", pilot))["Location"] == reverse("admin:studies_study_change", args=[study.pk])
    assert not Pilot.objects.exists()
    assert LogEntry.objects.filter(change_message="Deleted pilot 1.").exists()


@pytest.mark.parametrize("asked", [{"people": "0"}, {"people": "many"}, {"failing": "9"}, {"player": "script:nobody"}])
def test_what_cannot_be_piloted_is_said_on_the_studys_page(client, boss, study, asked):
    answer = begin(client, study, **asked)
    assert answer["Location"] == reverse("admin:studies_study_change", args=[study.pk])
    assert client.get(answer["Location"]).context["messages"]
    assert not Pilot.objects.exists()


def test_nothing_is_begun_stopped_or_deleted_by_looking(client, boss, study):
    assert client.get(reverse("admin:piloting_pilot_begin", args=[study.pk])).status_code == 405
    pilot = services.begin(study, people=1)
    for deed in ("stop", "remove"):
        assert client.get(page(deed, pilot)).status_code == 405
    assert Pilot.objects.get().running


def test_who_may_see_studies_sees_pilots_and_does_nothing(client, study):
    staff(client, "view_study")
    pilot = services.begin(study, people=1)
    assert client.get(pilot.get_absolute_url()).status_code == 200
    assert client.get(page("progress", pilot)).status_code == 200
    assert b'name="people"' not in client.get(pilot.get_absolute_url()).content
    assert begin(client, study).status_code == 403
    for deed in ("stop", "remove"):
        assert client.post(page(deed, pilot)).status_code == 403
    assert Pilot.objects.get().running


@pytest.mark.parametrize("permissions", [[], ["view_match", "view_pilot"]])
def test_who_may_not_see_studies_sees_no_pilot(client, study, permissions):
    staff(client, *permissions)
    pilot = services.begin(study, people=1)
    for address in (pilot.get_absolute_url(), page("progress", pilot), reverse("admin:piloting_pilot_changelist")):
        assert client.get(address).status_code in (403, 404)
    assert client.post(page("stop", pilot)).status_code in (403, 404)
    assert Pilot.objects.get().running


def test_a_reason_with_markup_in_it_is_text_and_no_token_is_shown(client, boss, study):
    pilot = services.begin(study, people=1)
    driver.drive(pilot.pk)
    Walker.objects.update(status=Walker.Status.STUCK, problem="<script>alert(1)</script>")
    shown = client.get(pilot.get_absolute_url()).content.decode()
    assert "<script>alert" not in shown and "&lt;script&gt;alert" in shown
    assert Walker.objects.get().enrolment.token not in shown
