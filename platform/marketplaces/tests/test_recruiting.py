"""Opening, pausing and closing a study does the same on its marketplace, or says what was not done and tries again."""

from __future__ import annotations

import pytest
from django.urls import reverse

from audit.models import Record
from rights.roles import Role
from studies.models import Study
from studies.tests import kit

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(stage):
    """A study that is offered there, by one task of at most nine places on mTurk."""
    stage.publish()
    return stage


@pytest.fixture
def owner(published):
    return published.sign_in(Role.OWNER, account=Role.EDITOR)


def page_of(client, stage) -> str:
    return client.get(reverse("admin:studies_study_change", args=[stage.study.pk])).content.decode()


def act(client, stage, name: str) -> str:
    """Do it, and return the page that follows."""
    address = reverse(f"admin:studies_study_{name}", args=[stage.study.pk])
    return client.post(address, follow=True).content.decode()


def is_offered(stage) -> bool:
    """Return whether newcomers can start at the stand-in."""
    market = stage.market
    if stage.kind == "mturk":
        return any(hit.expires > market.now() for hit in market.hits.values())
    return any(study["status"] == "ACTIVE" for study in market.studies.values())


def states(stage) -> tuple[str, bool]:
    return Study.objects.get(pk=stage.study.pk).status, is_offered(stage)


def test_page_says_what_each_action_does_there(published, owner):
    page = page_of(owner, published)
    assert page.count(f"On {published.there}, ") >= 2
    assert ("20 places" if published.kind == "prolific" else "1 task, 9 places available") in page
    assert states(published) == ("launched", True)


def test_pausing_opening_and_closing_happens_on_both_sides(published, owner):
    assert "the study" in act(owner, published, "pause") and states(published) == ("paused", False)
    act(owner, published, "launch")
    assert states(published) == ("launched", True)
    for name, offered in (("pause", False), ("resume", True)):
        owner.post(reverse(f"monitoring:{name}", args=[published.study.pk]))
        assert is_offered(published) is offered
    act(owner, published, "close")
    assert states(published) == ("closed", False)
    details = Record.objects.get(action="stopped").details
    assert details["at"] == published.there and details["done"] is True


def test_failure_there_is_shown_and_can_be_repeated(published, owner):
    published.standin.misbehave("refused", "UpdateExpiration|/api/", times=99)
    page = act(owner, published, "close")
    assert states(published) == ("closed", True)
    assert f"Done here, but not on {published.there}" in page and "Try again" in page
    assert Record.objects.get(action="stopped").details["done"] is False
    published.standin.behave()
    assert "has not been done yet" in page_of(owner, published), "also later"
    page = act(owner, published, "follow")
    assert not is_offered(published)
    assert "Try again" not in page and "has not been done yet" not in page


def test_opening_needs_the_accounts_editor(published):
    owner = published.sign_in(Role.OWNER, account=None)
    act(owner, published, "pause")
    assert not is_offered(published), "spends nothing"
    assert "Only editors of the account" in act(owner, published, "launch")
    assert states(published) == ("launched", False)


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("stage", ["prolific"], indirect=True)
def test_places_of_a_larger_version_are_added_there(published, owner, fails):
    Study.objects.update(draft=kit.changed(published.study.draft, quota=30))
    if fails:
        published.standin.misbehave("refused", "/api/", times=99)
        assert "10 places of the launched version" in act(owner, published, "launch")
        published.standin.behave()
    assert "the study now has 30 places" in act(owner, published, "add_places" if fails else "launch")


@pytest.mark.parametrize("stage", ["mturk"], indirect=True)
def test_tasks_that_did_not_end_are_tried_again(published, owner):
    published.publish(places=3)
    published.standin.misbehave("cut", "UpdateExpirationForHIT")
    page = act(owner, published, "pause")
    assert "1 of 2 tasks were not changed" in page and "On Mechanical Turk, 1 task ends" in page
    assert "0 places available" in act(owner, published, "follow") and not is_offered(published)
