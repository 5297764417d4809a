"""The pages of a study that cannot be entered."""

from __future__ import annotations

import time

import jwt
import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from games import registry
from marketplaces.prolific.forms import suggestion
from participants.models import Enrolment
from recruiters import otree
from recruiters.models import LabCode, OtreeServer
from studies.models import Study
from studies.tests import kit
from tests.visitors import consented_participant, heading_of, launched_study, text_of

pytestmark = pytest.mark.django_db


def follow_link(entry: str) -> HttpResponse:
    """Follow a link of this kind of entry."""
    link = {
        Study.Entry.CODES: lambda: {"code": LabCode.objects.create(study="splitting").code},
        Study.Entry.MTURK: lambda: {"workerId": "W", "assignmentId": "A", "hitId": "H"},
        Study.Entry.OPEN: dict,
        Study.Entry.OTREE: lambda: {"token": otree_token()},
    }[entry]()
    return Client().get("/join/splitting", link)


def otree_token() -> str:
    """Return a token signed by an oTree server registered for the study."""
    server = OtreeServer.objects.create(study="splitting", addresses="https://otree.example")
    return_url = "https://otree.example/InitializeParticipant/abc"
    claims = {
        "aud": otree.PLAY, "study": "splitting", **{"sub": "abc", "round": "parley/1", "session": "s"},
        "exp": time.time() + 60, "back": return_url,
    }  # fmt: skip
    return jwt.encode(claims, otree.link_key(server), "HS256")


def test_participants_do_not_read_the_game_summary():
    study = launched_study(via="open")
    assert registry.get(study.games[0]).summary not in text_of(Client().get("/join/splitting"))
    assert registry.get(study.games[0]).summary not in suggestion(study, study.latest_version())["description"]


@pytest.mark.parametrize("slug", ["unknown", "UNKNOWN", "x" * 300])
def test_unknown_study_has_a_clear_page(slug):
    response = Client().get(f"/join/{slug}")
    assert response.status_code == 404
    assert "check the link" in text_of(response)


@pytest.mark.parametrize("entry", list(Study.Entry))
@pytest.mark.parametrize(
    ("status", "reason"), [("draft", "not started yet"), ("paused", "paused at the moment"), ("closed", "has ended")]
)
def test_closed_study_explains_why(entry, status, reason):
    launched_study(via=entry)
    Study.objects.update(status=status)
    response = follow_link(entry)
    assert response.status_code == 403
    assert "not open" in heading_of(response)
    assert reason in text_of(response)
    assert not Enrolment.objects.exists()


def test_unlaunched_draft_has_the_same_page():
    kit.new_study("splitting", via="open")
    response = follow_link(Study.Entry.OPEN)
    assert response.status_code == 403
    assert "not started yet" in text_of(response)


def test_full_study_says_a_place_may_become_free():
    study = launched_study(roles=["alice", "bob"], quota=1)
    consented_participant(study, "w1"), consented_participant(study, "w2")
    response = follow_link(Study.Entry.CODES)
    assert response.status_code == 403
    assert "places are taken" in heading_of(response)
    assert "try again later" in text_of(response)
    assert Enrolment.objects.count() == 2


def test_participants_continue_when_the_study_is_paused_or_full():
    launched_study(quota=1)
    code = LabCode.objects.create(study="splitting").code
    first = Client().get("/join/splitting", {"code": code})["Location"]
    Study.objects.update(status=Study.Status.PAUSED)
    assert Client().get("/join/splitting", {"code": code})["Location"] == first
    assert Client().get(first).status_code == 200


def test_entry_pages_show_no_game_parameters():
    launched_study(via="open", config={"money": 123_457, "delta_bob": 0.123})
    page = follow_link(Study.Entry.OPEN).content.decode()
    assert "123" not in page


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"participations": 1}, "can take part once"),
        ({"participations": None, "rest_hours": 5}, "within the last 5 hours"),
    ],
)
def test_known_browser_is_told_at_once_that_it_cannot_begin_again(fields, reason):
    launched_study(via="open", **fields)
    client = Client()
    client.post("/join/splitting", {"form": "f" * 24})
    Enrolment.objects.update(ended_at=timezone.now(), state="completed")
    page = client.get("/join/splitting")
    assert reason in text_of(page) and "<form" not in page.content.decode()
    assert "See its last page" in text_of(page)
    assert client.post("/join/splitting", {"form": "g" * 24}).status_code == 403
    assert Enrolment.objects.count() == 1


def test_known_browser_may_begin_again_where_the_study_allows_it():
    launched_study(via="open", participations=None)
    client = Client()
    client.post("/join/splitting", {"form": "f" * 24})
    Enrolment.objects.update(ended_at=timezone.now(), state="completed")
    assert "Begin" in text_of(client.get("/join/splitting"))
    assert client.post("/join/splitting", {"form": "g" * 24}).status_code == 302
    Enrolment.objects.update(ended_at=timezone.now(), state="completed")
    Study.objects.update(status="closed")
    assert "The study has ended" in text_of(client.get("/join/splitting")), "said before the button is pressed"
