"""Opening, pausing and closing a study does the same on Prolific, or says what was not done and tries again."""

from __future__ import annotations

import pytest
from django.urls import reverse

from audit.models import Record
from marketplaces.prolific import publishing
from marketplaces.prolific.tests.test_publishing import CHANGING_STATUS
from rights.roles import Role
from studies.models import Study
from studies.tests import kit

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(desk):
    desk.draft()
    publishing.publish(desk.publication)
    return desk


@pytest.fixture
def owner(sign_in):
    return sign_in(study=Role.OWNER, account_role=Role.EDITOR)


def page_of(client, desk) -> str:
    return client.get(reverse("admin:studies_study_change", args=[desk.study.pk])).content.decode()


def act(client, desk, name: str) -> str:
    """Do it, and return the page that follows."""
    address = reverse(f"admin:studies_study_{name}", args=[desk.study.pk])
    return client.post(address, follow=True).content.decode()


def status_there(desk) -> str:
    (study,) = desk.standin.market.studies.values()
    return study["status"]


def status_here(desk) -> str:
    return Study.objects.get(pk=desk.study.pk).status


def test_page_says_what_each_action_does_there(published, owner):
    page = page_of(owner, published)
    assert "recruiting, 20 places" in page
    assert page.count("On Prolific, the study is paused: no new participants") == 2, "on the page and in the question"
    assert page.count("On Prolific, the study is stopped for good") == 2
    assert not [call for call in published.standin.calls if call.path.endswith("/transition/")][1:]


def test_pausing_and_opening_happens_on_both_sides(published, owner):
    assert "the study is now: paused, 20 places" in act(owner, published, "pause")
    assert (status_here(published), status_there(published)) == ("paused", "PAUSED")
    assert "the study is now: recruiting" in act(owner, published, "launch")
    assert (status_here(published), status_there(published)) == ("launched", "ACTIVE")


def test_monitor_pauses_and_resumes_on_both_sides(published, owner):
    for name, expected in (("pause", "PAUSED"), ("resume", "ACTIVE")):
        owner.post(reverse(f"monitoring:{name}", args=[published.study.pk]))
        assert status_there(published) == expected


def test_closing_stops_on_both_sides(published, owner):
    page = act(owner, published, "close")
    assert "the study is now: all places taken" in page or "awaiting review" in page
    assert (status_here(published), status_there(published)) == ("closed", "AWAITING REVIEW")
    details = Record.objects.get(action="stopped").details
    assert details["at"] == "Prolific" and details["done"] is True


def test_failure_there_is_shown_and_can_be_repeated(published, owner):
    published.standin.misbehave("refused", "/api/", times=99)
    page = act(owner, published, "close")
    assert (status_here(published), status_there(published)) == ("closed", "ACTIVE")
    assert "Done here, but not on Prolific" in page and "Try again" in page
    assert Record.objects.get(action="stopped").details["done"] is False
    published.standin.behave()
    assert "this has not been done yet" in page_of(owner, published), "also later"
    page = act(owner, published, "follow")
    assert status_there(published) == "AWAITING REVIEW"
    assert "Try again" not in page and "this has not been done yet" not in page


def test_places_of_a_larger_version_are_added_there(published, owner):
    Study.objects.update(draft=kit.changed(published.study.draft, quota=30))
    assert "the study now has 30 places" in act(owner, published, "launch")
    (study,) = published.standin.market.studies.values()
    assert study["total_available_places"] == 30


def test_places_not_offered_can_be_offered_later(published, owner):
    Study.objects.update(draft=kit.changed(published.study.draft, quota=30))
    published.standin.misbehave("refused", "/api/", times=99)
    assert "10 places of the launched version are not offered on Prolific" in act(owner, published, "launch")
    published.standin.behave()
    assert "the study now has 30 places" in act(owner, published, "add_places")


def test_opening_needs_the_accounts_editor(published, sign_in):
    owner = sign_in(study=Role.OWNER, account_role=None)
    act(owner, published, "pause")
    assert status_there(published) == "PAUSED", "spends nothing"
    assert "Only editors of the account" in act(owner, published, "launch")
    assert (status_here(published), status_there(published)) == ("launched", "PAUSED")


def test_lost_answer_counts_by_the_status_that_prolific_reports(published, owner):
    published.standin.misbehave("lost", CHANGING_STATUS)
    assert "Done here, but not" not in act(owner, published, "pause")
    assert status_there(published) == "PAUSED"
