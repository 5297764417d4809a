"""Participants ask the researchers and read what these write; nobody else learns of it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from audit.models import Record
from helping import services
from helping.models import Message
from matches.models import Match
from matches.tests.test_fair_time import START, Table
from participants import services as people
from participants.states import State
from recruiters.arrivals import Arrival
from rights.members import give
from rights.roles import Role
from studies.enrolling import enrol
from studies.models import Study
from studies.tests.kit import launched, walk_to_lobby
from tests.visitors import Visitor, arrived_participant, launched_study, text_of
from uptime import services as uptime

pytestmark = pytest.mark.django_db
ASKED = "May I <b>stop</b> now?"


def arrived(worker: str = "worker", study: Study | None = None, **parts: object) -> Visitor:
    return Visitor(arrived_participant(study or launched_study(**parts), worker))


def ask(visitor: Visitor, text: str = ASKED, **headers: str) -> str:
    return text_of(visitor.client.post(f"{visitor.url}questions/", {"text": text}, headers=headers))


def answer(study: Study, text: str, to: str) -> int:
    return services.write(
        recipients=services.Recipients.read(study, to), author=User.objects.get_or_create(username="rosa")[0], text=text
    )


def member(client, study: Study, role: Role) -> User:
    user = User.objects.create_user(f"the {role}", is_staff=True)
    give(study, user=user, role=role, by=None)
    client.force_login(user)
    return user


class TestParticipant:
    @pytest.mark.parametrize("kind", ["consent", "match", "quiz"])
    def test_every_page_leads_to_the_question_and_shows_the_answer(self, kind):
        visitor = arrived().walk_to(kind)
        assert "Ask a question" in text_of(visitor.see())
        assert "We have sent your question" in ask(visitor)
        answer(Study.objects.get(), "Yes & no.", f"person:{visitor.enrolment.pk}")
        page = visitor.see().content.decode()
        assert "New message from the researchers" in page and "Yes &amp; no." in page
        assert "May I &lt;b&gt;stop&lt;/b&gt; now?" in page

    def test_page_after_the_end_takes_questions_too(self):
        visitor = arrived().walk_to("consent")
        visitor.client.post(f"{visitor.url}leave/")
        assert visitor.now().state == State.WITHDREW
        ask(visitor)
        assert Message.objects.get().text == ASKED

    def test_panel_is_answered_with_the_list_and_a_shown_message_counts_as_read(self):
        visitor = arrived().walk_to("match")
        page = visitor.client.post(f"{visitor.url}questions/", {"text": ASKED}, headers={"x-parley-panel": "1"})
        assert page.content.decode().startswith("<ol")
        answer(Study.objects.get(), "Yes.", f"person:{visitor.enrolment.pk}")
        message = Message.objects.get(text="Yes.")
        page = visitor.client.get(f"{visitor.url}questions/list")
        assert "data-unread" in page.content.decode() and Message.objects.filter(read_at=None, pk=message.pk).exists()
        visitor.client.get(f"{visitor.url}questions/list?seen={message.pk}")
        assert Message.objects.get(pk=message.pk).read_at is not None
        assert "New message" not in visitor.see().content.decode()

    @pytest.mark.parametrize(
        ("text", "why"), [(" \x00 ", "write something first"), ("x" * 2001, "at most 2000 characters")]
    )
    def test_refused_question_says_why_and_keeps_the_text(self, text, why):
        visitor = arrived()
        page = ask(visitor, text)
        assert why in page and text.strip(" \x00") in page
        assert not Message.objects.exists()

    def test_questions_in_a_row_are_limited_in_time(self):
        visitor = arrived()
        for number in range(services.MAX_QUESTIONS):
            ask(visitor, f"question {number}")
        assert "wait a few minutes" in ask(visitor, "one more")
        assert Message.objects.count() == services.MAX_QUESTIONS
        Message.objects.update(at=timezone.now() - services.QUESTIONS_WITHIN)
        ask(visitor, "one more")
        assert Message.objects.count() == services.MAX_QUESTIONS + 1

    def test_study_without_questions_offers_none_and_takes_none(self):
        visitor = arrived(asking=False).walk_to("match")
        assert "Ask a question" not in text_of(visitor.see())
        ask(visitor)
        assert not Message.objects.exists()
        answer(Study.objects.get(), "The room closes at six.", "study")
        assert "The room closes at six." in text_of(visitor.see())


class TestResearcher:
    def test_editor_answers_from_the_monitor_and_the_question_is_closed(self, client):
        visitor = arrived().walk_to("match")
        ask(visitor)
        study = Study.objects.get()
        user = member(client, study, Role.EDITOR)
        page = client.get(f"/admin/monitor/{study.pk}/now/").content.decode()
        assert 'data-open="1"' in page and "May I &lt;b&gt;stop&lt;/b&gt; now?" in page
        client.post(f"/admin/monitor/{study.pk}/write/", {"to": f"person:{visitor.enrolment.pk}", "text": "No."})
        sent = Message.objects.get(text="No.")
        assert (sent.enrolment, sent.author, sent.match) == (visitor.enrolment, user, visitor.match())
        assert 'data-open="0"' in client.get(f"/admin/monitor/{study.pk}/now/").content.decode()
        record = Record.objects.get(action="wrote")
        assert (record.by, record.details) == (str(user), {"to": "person", "participants": 1})

    def test_question_can_be_closed_without_an_answer(self, client):
        visitor = arrived()
        ask(visitor)
        study = Study.objects.get()
        member(client, study, Role.EDITOR)
        client.post(f"/admin/monitor/{study.pk}/close-question/", {"enrolment": visitor.enrolment.pk})
        assert not services.open_questions().exists() and Message.objects.count() == 1

    def test_viewer_reads_but_cannot_write(self, client):
        visitor = arrived()
        ask(visitor)
        study = Study.objects.get()
        member(client, study, Role.VIEWER)
        page = client.get(f"/admin/monitor/{study.pk}/").content.decode()
        assert "May I &lt;b&gt;stop" in page and "data-write" not in page
        refused = client.post(f"/admin/monitor/{study.pk}/write/", {"to": "study", "text": "No."})
        assert refused.status_code in (403, 404) and Message.objects.count() == 1

    def test_message_goes_to_one_to_a_group_or_to_everybody_now_in_the_study(self):
        study = launched_study()
        first, second, gone = (arrived(worker, study) for worker in ("w1", "w2", "w3"))
        first.walk_to("match")
        people.withdraw(enrolment_id=gone.enrolment.pk)
        elsewhere = arrived(study=launched_study(slug="other"))
        for visitor in (second, gone, elsewhere):
            visitor.see()
        assert answer(study, "one", f"person:{second.enrolment.pk}") == 1
        assert answer(study, "group", f"group:{first.match().pk}") == 1
        assert answer(study, "all", "study") == 2
        received = {visitor.enrolment.pk: [] for visitor in (first, second, gone, elsewhere)}
        for message in Message.objects.all():
            received[message.enrolment_id].append(message.text)
        assert list(received.values()) == [["group", "all"], ["one", "all"], [], []]
        with pytest.raises(services.NotSent):
            answer(study, "no", f"person:{elsewhere.enrolment.pk}")

    def test_messages_are_never_changed(self):
        visitor = arrived()
        ask(visitor)
        with pytest.raises(TypeError):
            Message.objects.get().save()


class Group(Table):
    """Three participants and a clock to set, in a contest whose study pauses the clock of those who ask."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **parts: object):
        self.second = 0.0
        monkeypatch.setattr(timezone, "now", lambda: START + timedelta(seconds=self.second))
        monkeypatch.setattr(uptime, "MEMORY_SECONDS", -1)
        uptime.forget()
        study = launched(
            "asking", game="beauty_contest", config={"players": 3, "runs": 2}, via="open", quota=5, code_word=None,
            seats={f"p{n}": "person" for n in (1, 2, 3)}, ready=0, turn=60, extension=0, report=0, absence=0,
            on_timeout="default", average="2.00", pauses_clock=True, longest_pause=100, **parts,
        )  # fmt: skip
        for _person in range(3):
            walk_to_lobby(enrol(study, Arrival("open", worker="", proof="")))
        self.match = Match.objects.get()

    def ask(self, role: str) -> None:
        services.ask(enrolment=self.match.seats.get(role=role).enrolment, text="How long?")

    def reply(self, role: str) -> None:
        answer(Study.objects.get(), "Long.", f"person:{self.match.seats.get(role=role).enrolment_id}")

    def deadline(self, role: str) -> float:
        self.match.refresh_from_db()
        return (self.match.open_turns()[role].deadline - START).total_seconds()


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
class TestClock:
    def test_it_stands_still_until_the_answer(self, monkeypatch):
        group = Group(monkeypatch)
        group.second = 20
        group.ask("p1")
        assert (group.frame("p1")["remaining"], group.frame("p1")["held"], group.deadline("p2")) == (40, 100, 60)
        group.second = 50
        assert (group.frame("p1")["remaining"], group.frame("p1")["held"]) == (40, 70)
        group.reply("p1")
        assert (group.frame("p1")["remaining"], group.frame("p1")["held"]) == (40, 0)
        assert group.deadline("p1") == 90

    def test_pause_ends_by_itself_and_no_second_question_prolongs_it(self, monkeypatch):
        group = Group(monkeypatch)
        group.second = 20
        group.ask("p1")
        group.second = 130
        group.ask("p1")
        assert (group.frame("p1")["remaining"], group.frame("p1")["held"], group.deadline("p1")) == (30, 0, 160)

    def test_turn_that_opens_while_a_question_is_open_is_paused_for_what_is_left(self, monkeypatch):
        group = Group(monkeypatch)
        group.ask("p1")
        group.second = 10
        group.play_round("p1", "p2", "p3")
        group.second = 30
        assert services.hold_clocks() == 1 and services.hold_clocks() == 0
        assert (group.frame("p1")["remaining"], group.frame("p1")["held"]) == (40, 70)

    @pytest.mark.parametrize(("told", "reads"), [("counts", "has asked the researchers a question."), ("none", "")])
    def test_others_read_why_they_wait_but_not_who_asked_or_what(self, monkeypatch, told, reads):
        group = Group(monkeypatch, others=told)
        group.ask("p1")
        html = group.frame("p2")["html"]
        assert reads in html and ("has asked" in html) == bool(reads)
        assert "How long?" not in html and "has asked" not in group.frame("p1")["html"]

    def test_it_runs_on_if_the_study_does_not_say_so(self):
        visitor = arrived().walk_to("match")
        before = visitor.match().open_turns()["alice"]
        ask(visitor)
        assert visitor.match().open_turns()["alice"] == before
