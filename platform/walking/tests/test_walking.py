"""A draft can be walked through in any cell and seat, from any stage on, and nothing of it is kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from audit.models import Record
from llm_agents.standins.player import answer
from matches.models import Match, Seat
from opponents.models import Call
from participants.models import Enrolment
from piloting.person import Person
from rights.members import give
from rights.roles import Role
from studies.models import Study
from studies.tests.kit import answering, new_study, staff
from tests.visitors import text_of
from walking import services, views
from walking.models import Link, Walk
from walking.outline import stages_of

pytestmark = pytest.mark.django_db(transaction=True)
MODEL = {"model": {"endpoint": "openai", "model": "gpt-4o-mini", "delay": 60}}


@pytest.fixture
def study() -> Study:
    """A draft in which a wording is varied, and a question is asked only of those who take."""
    study = new_study("walked", title="Walked", agents=MODEL, factors={"wording": {"levels": ["give", "take"]}})
    study.draft["journey"] = [
        study.draft["journey"][0],
        {"stage": "page", "name": "opening", "title": "Before", "text": "You {{ wording }} something."},
        study.draft["journey"][1],
        {
            "stage": "questions",
            "name": "after",
            "show_if": "wording == 'take'",
            "items": [{"name": "why", "kind": "long", "text": "Why did you take?"}],
        },
    ]
    study.save()
    return study


@pytest.fixture
def contest() -> Study:
    """A draft in which three people meet."""
    return new_study("contest", game="beauty_contest", config={"players": 3, "runs": 1}, seats={"*": "person"})


def counts() -> dict[str, int]:
    """Return the number of rows of every table."""
    return {model._meta.label: model._default_manager.count() for model in apps.get_models(include_auto_created=True)}


def page_of(walk: Walk) -> str:
    assert walk.enrolment is not None
    return text_of(Client().get(walk.enrolment.get_absolute_url()))


def finish(walk: Walk) -> None:
    """Go on to the last page as a simulated participant."""
    assert walk.enrolment is not None
    Person(walk.enrolment, lambda: True, player="script:random", seed="test").walk()
    walk.enrolment.refresh_from_db()


def test_every_cell_is_shown_as_its_participants_will_see_it(study):
    for cell, wording in ((1, "give"), (2, "take")):
        walk = services.begin(study, cell=cell)
        assert services.jump(walk, 2) == ""
        assert f"You {wording} something." in page_of(walk)


def test_other_seats_answer_at_once_and_no_model_is_asked(study):
    walk = services.begin(study)
    finish(walk)
    match = Match.objects.get()
    assert (walk.enrolment.state, match.status, match.purpose) == ("completed", "finished", "walk")
    assert {seat.agent for seat in match.seats.exclude(agent="")} == {f"script:{match.configured().default_script}"}
    assert "You earned" in page_of(walk) or "Your pay" in page_of(walk)


def test_real_models_play_only_if_a_researcher_asks_for_them(study, monkeypatch):
    study.draft["agents"]["model"]["delay"] = 0
    study.save()
    with answering(monkeypatch, answer) as standin:
        walk = services.begin(study, real_models=True)
        finish(walk)
    assert standin.requests and set(Seat.objects.exclude(agent="").values_list("agent", flat=True)) == {
        "openai:gpt-4o-mini"
    }
    assert Call.objects.exists()


def test_lobby_passes_by_itself_and_scripts_count_as_people(contest):
    walk = services.begin(contest)
    position = next(n for n, step in enumerate(walk.enrolment.steps) if step["kind"] == "match")
    assert services.jump(walk, position) == ""
    seat = Seat.objects.get(enrolment=walk.enrolment)
    page = page_of(walk)
    assert "You play with 2 other people." in page and "Too few people" not in page
    assert seat.match.stand_ins == {"p2", "p3"}
    finish(walk)
    assert walk.enrolment.state == "completed"


def test_condition_is_judged_as_it_would_be(study):
    for cell, shown in ((1, False), (2, True)):
        walk = services.begin(study, cell=cell)
        last = len(walk.enrolment.steps) - 1
        assert stages_of(walk.enrolment)[last].shown is None
        reason = services.jump(walk, last)
        walk.enrolment.refresh_from_db()
        assert (bool(walk.enrolment.ended), bool(reason)) == (not shown, not shown)
        row = stages_of(walk.enrolment)[last]
        assert (row.condition, row.shown) == ("wording == 'take'", shown)


def test_going_back_begins_anew_and_keeps_one_enrolment(study):
    walk = services.begin(study)
    services.jump(walk, 4)
    page_of(walk)
    assert Match.objects.count() == 1
    services.jump(walk, 1)
    assert walk.enrolment.position == 1
    assert (Enrolment.objects.count(), Match.objects.count()) == (1, 0)


def test_nothing_is_left_in_any_table(study, contest):
    before = counts()
    for draft in (study, contest):
        walk = services.begin(draft)
        finish(walk)
        Client().post(reverse("participants:problem", args=[walk.enrolment.token]), {"text": "Hello"})
        assert counts() != before
        walk.delete()
        assert counts() == before


def test_walks_end_when_they_are_left_and_after_an_hour(study):
    kept, closed, old = (services.begin(study) for _walk in range(3))
    Walk.objects.filter(pk=closed.pk).update(left_at=timezone.now() - timedelta(seconds=31))
    Walk.objects.filter(pk=old.pk).update(began_at=timezone.now() - timedelta(minutes=61))
    services.delete_old()
    assert list(Walk.objects.all()) == [kept]
    assert list(Enrolment.objects.all()) == [kept.enrolment]


def test_deleting_the_study_deletes_its_walks(study):
    services.begin(study)
    study.delete()
    assert not Enrolment.objects.exists()


def test_researcher_starts_jumps_and_ends(client, study):
    staff(client, study, role="viewer")
    start = reverse("walking:start", args=[study.pk])
    assert "wording take" in text_of(client.get(f"{start}2/"))
    begun = client.post(start, {"cell": "2"})
    walk = Walk.objects.get()
    assert begun["Location"] == walk.get_absolute_url()
    shown = client.get(begun["Location"])
    assert "noindex" in shown.content.decode() and "frame-src 'self'" in shown["Content-Security-Policy"]
    client.post(reverse("walking:jump", args=[walk.key]), {"position": "3"})
    stages = text_of(client.get(reverse("walking:stages", args=[walk.key])))
    assert "wording == 'take'" in stages and "not judged yet" in stages
    assert client.post(reverse("walking:leave", args=[walk.key]))["Location"] == start
    assert not Enrolment.objects.exists()
    assert client.get(begun["Location"]).status_code == 404


def test_co_author_needs_no_account_until_the_link_is_revoked(client, study):
    staff(client, study, role="editor")
    change = reverse("walking:change_link", args=[study.pk])
    client.post(change)
    link = Link.objects.get()
    visitor = Client()
    assert "Walked" in text_of(visitor.get(link.get_absolute_url()))
    study.draft["journey"][1]["text"] = "Something new."
    study.save()
    walk_page = visitor.post(link.get_absolute_url())["Location"]
    walk = Walk.objects.get()
    services.jump(walk, 2)
    assert "Something new." in page_of(walk)
    client.post(change, {"revoke": "1"})
    assert visitor.get(link.get_absolute_url()).status_code == visitor.get(walk_page).status_code == 404
    assert not Enrolment.objects.exists()
    records = Record.objects.filter(of_kind="studies.study", of_key=study.pk).order_by("pk")
    assert [record.action for record in records][-2:] == ["made", "revoked"]


def test_visitors_from_one_address_begin_only_so_many_walks(study, monkeypatch):
    monkeypatch.setattr(views, "MAX_WALKS", 2)
    link, visitor = Link.objects.create(study=study), Client(REMOTE_ADDR="192.0.2.7")
    answers = [visitor.post(link.get_absolute_url()) for _number in range(3)]
    assert [answer.status_code for answer in answers] == [302, 302, 429]
    assert "try again in ten minutes" in text_of(answers[-1]) and Walk.objects.count() == 2
    monkeypatch.setattr(views, "MAX_JUMPS", 0)
    walk = Walk.objects.first()
    visitor.post(reverse("walking:jump", args=[walk.key]), {"position": "2"})
    assert "try again in ten minutes" in text_of(visitor.get(walk.get_absolute_url()))
    assert walk.enrolment.position == Enrolment.objects.get(pk=walk.enrolment_id).position == 0


def test_pages_are_for_the_studys_members(client, study):
    start, change = (reverse(f"walking:{name}", args=[study.pk]) for name in ("start", "change_link"))
    assert "login" in client.get(start)["Location"]
    staff(client, study)
    assert client.get(start).status_code == client.post(change).status_code == 404
    give(study, user=User.objects.get(username="staff"), role=Role.VIEWER, by=None)
    assert client.get(start).status_code == 200 and client.post(change).status_code == 403
    assert not Link.objects.exists()


def test_forged_requests_are_refused(study):
    walk = services.begin(study)
    visitor = Client(enforce_csrf_checks=True)
    for name in ("jump", "leave"):
        assert visitor.post(reverse(f"walking:{name}", args=[walk.key])).status_code == 403
    assert visitor.get(reverse("walking:jump", args=[walk.key])).status_code == 405


def test_faults_are_listed_instead_of_a_walk(client, study):
    staff(client, study, role="editor")
    study.draft["journey"][1]["seconds"] = -1
    study.save()
    page = client.post(reverse("walking:start", args=[study.pk]))
    assert page.status_code == 422 and "journey.1.seconds" in text_of(page)
    assert not Walk.objects.exists()
