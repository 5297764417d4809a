"""People who come to a session wait, start at once, or move up in the waiting list."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from gathering import services
from gathering.models import Attendance, Session
from participants.models import Enrolment
from recruiters.models import LabCode
from studies.models import Study
from studies.tests.kit import launched
from tests.visitors import heading_of, text_of

pytestmark = pytest.mark.django_db
IN_2030 = datetime(2030, 7, 1, 16, 30, tzinfo=UTC)


@pytest.fixture
def study() -> Study:
    return launched("room", title="Room", agents="script:fair", via="open", participations=None)


def session_of(study: Study, **fields) -> Session:
    return Session.objects.create(**{"study": study, "places": 2, "starts_at": in_minutes(10), **fields})


def in_minutes(number: float):
    return timezone.now() + timedelta(minutes=number)


class Person:
    """Somebody with a browser of their own, which prefers a language."""

    def __init__(self, study: Study, query: str = "", language: str = "en"):
        self.client, self.url = Client(headers={"accept-language": language}), f"{study.get_absolute_url()}{query}"

    def come(self):
        """Open the link, or reload the page."""
        self.page = self.client.get(self.url, follow=True)
        return self.page

    @property
    def token(self) -> str:
        return re.search(r'data-token="([^"]+)"', self.page.content.decode())[1]

    def asks(self) -> dict:
        """Return what the waiting room learns."""
        return self.client.get(f"/s/wait/{self.token}/").json()

    def begins(self):
        """Do what the waiting room does at the start."""
        form = re.search(r'name="form" value="([^"]+)"', self.page.content.decode())[1]
        return self.client.post(self.url, {"form": form}, follow=True)


def silent(person: Person, seconds: float = 60) -> None:
    """Let a page have been silent for a while."""
    Attendance.objects.filter(token=person.token).update(heard_at=timezone.now() - timedelta(seconds=seconds))


def test_people_wait_and_begin_together(study):
    session = session_of(study)
    ann, bob = Person(study), Person(study)
    for person in (ann, bob):
        assert heading_of(person.come()) == "A decision study"
        assert "You have a place" in text_of(person.page)
    answer = ann.asks()
    assert 590 < answer.pop("remaining") <= 600
    assert answer.pop("start").endswith(" UTC")
    assert answer == {"type": "session", "stage": "waiting", "position": 0, "here": 2}
    assert not Enrolment.objects.exists()
    assert services.start(session)
    for person in (ann, bob):
        assert person.asks()["stage"] == "begin"
        assert heading_of(person.begins()) == "Before you begin"
    assert set(session.attendances.values_list("enrolment", flat=True)) == set(
        Enrolment.objects.values_list("pk", flat=True)
    )
    assert not services.start(session)


def test_the_planned_start_needs_no_task(study):
    session_of(study, starts_at=in_minutes(-0.1))
    ann = Person(study)
    assert "The next page explains" in text_of(ann.come())


def test_the_start_is_told_in_the_sessions_time_zone(study):
    session = session_of(study, time_zone="America/New_York", starts_at=IN_2030)
    ann = Person(study)
    assert "1 July 2030, 12:30 (America/New_York)" in text_of(ann.come())
    assert session.code not in text_of(ann.page)


def test_a_changed_start_is_told_to_those_who_had_come(study):
    session = session_of(study)
    ann, bob = Person(study), Person(study)
    ann.come()
    before = ann.asks()["start"]
    services.change(session, moved=True, starts_at=IN_2030)
    assert ann.asks()["start"] != before
    told = text_of(ann.come())
    assert "has been changed" in told and "Monday 1 July 2030, 16:30 (UTC)" in told
    assert "changed" not in text_of(bob.come())


def test_a_waiting_list_moves_up_when_a_place_is_freed(study):
    session = session_of(study, places=1)
    ann, bob, eve = people = [Person(study) for _ in range(3)]
    for person in people:
        person.come()
    assert [person.asks()["position"] for person in people] == [0, 1, 2]
    assert "All places are taken" in text_of(eve.page)
    assert heading_of(ann.client.post(f"/s/wait/{ann.token}/")) == "You have left"
    assert [person.asks()["position"] for person in (bob, eve)] == [0, 1]
    silent(bob)
    assert eve.asks()["stage"] == "waiting"
    assert bob.asks()["position"] == 1  # back, and at the end of the queue
    services.start(session)
    assert [person.asks()["stage"] for person in (bob, eve)] == ["list", "begin"]


def test_those_without_a_place_are_told_at_the_end_and_owe_nothing(study):
    session = session_of(study, places=1, grace=0)
    ann, bob = Person(study), Person(study)
    ann.come(), bob.come()
    services.start(session)
    assert bob.asks()["stage"] == "over"
    assert heading_of(bob.come()) == "All places are taken"
    assert "session has started" in text_of(bob.page)
    ann.begins()
    assert Enrolment.objects.count() == 1


def test_who_came_to_a_session_that_is_off_is_told_of_the_next_session(study):
    first = session_of(study)
    session_of(study, starts_at=IN_2030)
    ann = Person(study, f"?session={first.code}")
    ann.come()
    assert services.call_off(first)
    assert ann.asks()["stage"] == "over"
    told = text_of(ann.come())
    assert "called off" in told and "next session starts on Monday 1 July 2030, 16:30 (UTC)" in told
    assert "You have a place" in text_of(Person(study).come())


def test_latecomers_get_free_places_within_the_grace(study):
    session = session_of(study, places=2, grace=5)
    ann, bob, eve = (Person(study) for _ in range(3))
    ann.come()
    services.start(session)
    ann.begins()
    assert "The next page explains" in text_of(bob.come())
    assert "All places are taken" in text_of(eve.come())
    silent_begin(session)
    assert eve.asks()["stage"] == "begin"
    Session.objects.update(started_at=in_minutes(-6))
    assert heading_of(Person(study).come()) == "No session at the moment"


def silent_begin(session: Session) -> None:
    """Let everyone who was admitted and has not begun close their page."""
    gone = session.attendances.filter(enrolment=None, admitted_at__isnull=False)
    gone.update(heard_at=timezone.now() - timedelta(minutes=1))


def test_who_has_begun_continues_and_cannot_begin_again_in_the_same_session(study):
    session = session_of(study)
    ann = Person(study)
    ann.come()
    services.start(session)
    page = ann.begins().redirect_chain[-1][0]
    assert ann.client.get(ann.url).url == page
    Enrolment.objects.update(state="withdrew", ended_at=timezone.now())
    assert heading_of(ann.come()) != "Before you begin"
    assert session.attendances.count() == 1


def test_a_personal_code_waits_too_and_its_label_is_the_labs(study):
    coded = launched("coded", agents="script:fair", via="codes")
    session = session_of(coded)
    code = LabCode.objects.create(study="coded", label="PC 7", kind="once")
    ann = Person(coded, f"?code={code.code}")
    assert "You have a place" in text_of(ann.come())
    assert [each.shown_label for each in session.attendances.all()] == ["PC 7"]
    assert code.code not in session.attendances.get().key
    services.start(session)
    assert heading_of(ann.begins()) == "Before you begin"
    assert session.attendances.get().enrolment.identity.proof == code.code


def test_a_seat_is_one_persons(study):
    session = session_of(study, labels=["PC 1", "PC 2"], places=2)
    ann, bob = Person(study), Person(study)
    assert "Where do you sit?" in text_of(ann.come())
    ann.url = bob.url = f"/s/{session.code.lower()}/?seat=PC 1"
    ann.come()
    assert "You have a place" in text_of(ann.page) and "PC 1" in text_of(ann.page)
    assert "Seat PC 1 is taken." in text_of(bob.come())
    services.leave(session.attendances.get())
    assert "You have a place" in text_of(bob.come())


def test_the_short_entrance_leads_to_the_session(study):
    session = session_of(study)
    client = Client()
    assert heading_of(client.get("/s/")) == "Join a session"
    page = client.get("/s/", {"code": session.code.lower()}, follow=True)
    assert "You have a place" in text_of(page)
    wrong = client.get("/s/", {"code": "XXXXXX"}, follow=True)
    assert (wrong.status_code, "no session with this code" in text_of(wrong)) == (404, True)


def test_a_study_without_sessions_is_open_as_before(study):
    assert "The next page explains" in text_of(Person(study).come())


def test_sessions_end_when_nobody_is_in_them_any_more(study):
    session = session_of(study, grace=1)
    ann = Person(study)
    ann.come()
    services.start(session)
    ann.begins()
    Session.objects.update(started_at=in_minutes(-2))
    services.sweep()
    session.refresh_from_db()
    assert session.status == "started"
    Enrolment.objects.update(state="completed", ended_at=timezone.now())
    services.sweep()
    session.refresh_from_db()
    assert session.status == "ended"


def test_a_session_does_not_end_before_those_admitted_have_begun(study):
    session = session_of(study, grace=0)
    ann = Person(study)
    ann.come()
    services.start(session)
    services.sweep()
    assert heading_of(ann.begins()) == "Before you begin"
    silent_begin(session)
    services.sweep()
    session.refresh_from_db()
    assert session.status == "started"


def test_people_of_two_languages_wait_and_begin_together_each_in_theirs():
    study = launched("room", title="Room", agents="script:fair", via="open", language=["en", "de"])
    session = session_of(study, labels=["PC 1", "PC 2"])
    ann, ben = Person(study), Person(study, language="de-AT,de;q=0.9")
    assert "Wo sitzen Sie?" in text_of(ben.come())
    assert "Where do you sit?" in text_of(ann.come())
    for number, person in enumerate((ann, ben), start=1):
        person.url += f"?session={session.code}&seat=PC {number}"
    assert "You have a place" in text_of(ann.come())
    assert "Sie haben einen Platz" in text_of(ben.come())
    services.start(session)
    prepared = dict(session.attendances.values_list("label", "prepared__language"))
    assert prepared == {"PC 1": "en", "PC 2": "de"}
    assert heading_of(ann.begins()) == "Before you begin"
    assert heading_of(ben.begins()) == "Bevor Sie beginnen"
    assert Enrolment.objects.count() == 2
    assert heading_of(Client(headers={"accept-language": "es"}).get("/s/")) == "Unirse a una sesión"


def statements(act: Callable[[], object]) -> int:
    """Return how many statements something costs, those of transactions not counted."""
    with CaptureQueriesContext(connection) as queries:
        act()
    return sum(not query["sql"].startswith(("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE")) for query in queries)


def test_the_start_places_everyone_in_few_statements_and_beginning_costs_few(study):
    session = session_of(study, places=8)
    people = [Person(study) for _ in range(8)]
    for person in people:
        person.come()
    assert statements(partial(services.start, session)) <= 25
    assert Enrolment.objects.count() == 8
    # The first fills the process's caches, some of which last a second.
    assert min(statements(person.begins) for person in people) <= 10
    begun = session.attendances.exclude(enrolment=None)
    assert [each.enrolment.visit(0).kind for each in begun] == ["consent"] * 8


def test_who_has_a_place_and_does_not_begin_leaves_no_trace(study):
    session = session_of(study, grace=1)
    ann, bob = Person(study), Person(study)
    ann.come(), bob.come()
    services.start(session)
    services.sweep()
    assert Enrolment.objects.count() == 2
    ann.begins()
    silent_begin(session)
    services.sweep()
    assert [Enrolment.objects.get()] == [each.enrolment for each in session.attendances.exclude(enrolment=None)]
    assert bob.asks()["stage"] == "begin"  # back within the grace
    assert heading_of(bob.begins()) == "Before you begin"


def test_a_page_that_asks_during_the_start_keeps_its_place(study):
    session = session_of(study, grace=0)
    ann = Person(study)
    ann.come()
    silent(ann, 10)
    read_before = Attendance.objects.get()
    services.start(session)
    services.mark_present(read_before)
    assert ann.asks()["stage"] == "begin"
