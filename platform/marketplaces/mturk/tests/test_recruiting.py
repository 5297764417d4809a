"""Opening, pausing and closing a study ends its tasks on Mechanical Turk, or offers them again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from llm_agents.standins.kit import Fault
from marketplaces.mturk.models import Hit
from studies.models import Study

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss(staged) -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("boss"))
    return client


def act(client: Client, staged, name: str) -> str:
    address = reverse(f"admin:studies_study_{name}", args=[staged.study.pk])
    return client.post(address, follow=True).content.decode()


def offered(staged) -> int:
    return sum(hit.expires > staged.market.now() for hit in staged.market.hits.values())


def test_closing_ends_the_tasks(staged, boss):
    staged.published(assignments=5)
    staged.published(assignments=3)
    page = boss.get(reverse("admin:studies_study_change", args=[staged.study.pk])).content.decode()
    assert "2 tasks, 8 places available" in page and "On Mechanical Turk, 2 tasks end" in page
    assert "the study now has 2 tasks, 0 places available" in act(boss, staged, "close")
    assert offered(staged) == 0 and Study.objects.get().status == "closed"


def test_tasks_that_did_not_end_are_tried_again(staged, boss):
    staged.published(assignments=5)
    staged.published(assignments=3)
    staged.standin.misbehave(Fault.CUT, "UpdateExpirationForHIT")
    page = act(boss, staged, "pause")
    assert "1 of 2 tasks were not changed" in page and "On Mechanical Turk, 1 task ends" in page and "Try again" in page
    assert offered(staged) == 1 and Study.objects.get().status == "paused"
    assert "0 places available" in act(boss, staged, "follow")
    assert offered(staged) == 0


def test_opening_offers_the_tasks_again(staged, boss):
    staged.published(assignments=5)
    act(boss, staged, "pause")
    assert "1 task, 5 places available" in act(boss, staged, "launch")
    assert offered(staged) == 1 and Hit.objects.get().expires_at > timezone.now()
