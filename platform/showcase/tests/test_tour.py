"""The tour leads through pages that exist and show what it names, and remembers where a user was."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from django.test import Client

from exports.tests import building
from payouts.models import LedgerRow
from reports.models import Report
from rights.members import give
from rights.roles import Role
from showcase import tour
from showcase.samples import making
from showcase.tour import STEPS, STOPS
from studies import pausing
from studies.models import Study
from studies.tests import kit

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parents[3]
BAR, LINE = 'id="tour"', 'class="tour-line"'


@pytest.fixture
def study() -> Study:
    return building.new_study(slug=tour.STUDY)


@pytest.fixture
def finished(study: Study) -> Study:
    """A study as the sample is: closed, with pay, a dataset and a report."""
    person = building.complete(study, worker="A1", proof="one")
    LedgerRow.objects.filter(enrolment=person, reason="bonus").update(state=LedgerRow.State.UNCLEAR)
    pausing.close(study)
    Report.objects.create(dataset=making.dataset(study), state=Report.State.READY)
    return study


def text_of(client: Client, path: str) -> str:
    response = client.get(path, follow=True)
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def page_without_tour(text: str) -> str:
    return re.sub(r'<aside class="tour".*?</aside>', "", text, flags=re.DOTALL)


def test_there_are_five_steps():
    assert len(STEPS) == 5
    assert len({stop.name for stop in STOPS}) == len(STOPS)


def test_each_stop_shows_what_it_names(client, finished, boss):
    missing = []
    for stop in STOPS:
        text = text_of(client, f"/admin/tour/{stop.name}/")
        assert BAR in text and str(stop.title) in text
        page = page_without_tour(text)
        labels = re.findall(r"\*(.+?)\*", f"{stop.look} {stop.act}")
        missing += [f"{stop.name}: {label}" for label in labels if label.lower() not in page.lower()]
        missing += [f"{stop.name}: #{stop.at}"] if stop.at and f'id="{stop.at}"' not in page else []
    assert missing == []


@pytest.mark.slow
def test_next_leads_through_all_stops_to_the_end(client, study, boss):
    path, seen = f"/admin/tour/{STOPS[0].name}/", []
    while path:
        text = text_of(client, path)
        seen.append(re.search(r'<h2 id="tour"[^>]*>(.*?)</h2>', text)[1])
        following = re.search(r'<a class="tour-button" href="([^"]+)"', text)
        path = following[1] if following else ""
    assert seen == [str(stop.title) for stop in STOPS]
    finished = client.post("/admin/tour/leave/", {"done": "yes", "path": "/admin/"})
    assert finished["Location"] == "/admin/tour/"
    assert "You have seen it all" in text_of(client, "/admin/tour/")


def test_other_pages_lead_back_to_the_stop(client, study, boss):
    client.get("/admin/tour/monitor/")
    text = text_of(client, "/admin/studies/study/")
    assert LINE in text and BAR not in text
    assert 'href="/admin/tour/monitor/"' in text


def test_a_user_continues_where_they_left_even_after_signing_out(client, study, boss):
    client.get("/admin/tour/pilot/")
    left = client.post("/admin/tour/leave/", {"path": "/admin/studies/study/?q=x"})
    assert left["Location"] == "/admin/studies/study/?q=x"
    assert LINE not in text_of(client, "/admin/studies/study/")
    client.post("/admin/logout/")
    client.force_login(boss)
    for path in ("/admin/", "/admin/tour/"):
        assert 'href="/admin/tour/pilot/"' in text_of(client, path)
    assert BAR in text_of(client, "/admin/tour/pilot/")


@pytest.mark.parametrize("path", ["https://example.org/", "//example.org/", ""])
def test_leaving_stays_on_this_site(client, study, boss, path):
    client.get("/admin/tour/pilot/")
    assert client.post("/admin/tour/leave/", {"path": path})["Location"] == "/admin/"


@pytest.mark.parametrize("place", ["", "on", "on:", "on:nowhere", "elsewhere:pilot", "<script>"])
def test_an_unknown_place_shows_nothing(client, study, boss, place):
    client.cookies["tour"] = place
    assert LINE not in text_of(client, "/admin/studies/study/")
    assert "Start the tour" in text_of(client, "/admin/tour/")


def test_an_unknown_stop_does_not_exist(client, study, boss):
    assert client.get("/admin/tour/nowhere/").status_code == 404


def test_without_the_sample_there_is_no_tour(client, boss):
    assert client.get("/admin/tour/").status_code == 404
    assert "tour-card" not in text_of(client, "/admin/")
    client.cookies["tour"] = "on:pilot"
    assert LINE not in text_of(client, "/admin/studies/study/")


def test_a_demo_says_that_the_sample_is_being_made(client, boss, settings):
    settings.DEMO = True
    client.defaults["HTTP_HOST"] = "127.0.0.1"
    assert "sample study is being made" in text_of(client, "/admin/tour/")
    assert client.get("/admin/tour/pilot/")["Location"] == "/admin/tour/"


def test_only_members_of_the_sample_study_are_shown_it(client, study):
    user = kit.staff(client)
    assert client.get("/admin/tour/").status_code == 404
    give(study, user=user, role=Role.VIEWER, by=None)
    assert BAR in text_of(client, "/admin/tour/question/")


def test_texts_are_escaped():
    assert tour.rendered("<b> *Save* & `a < b`") == "&lt;b&gt; <strong>Save</strong> &amp; <code>a &lt; b</code>"


def test_the_documentation_begins_with_the_same_steps():
    """After a change of the texts, copy `showcase.tour.page()` into docs/index.md and retake the screenshots."""
    assert tour.page() in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
