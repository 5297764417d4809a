"""Finished means paid: those who made every move need no further click; questions after the game may stay open."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from matches.models import Match
from matches.presence import heard
from participants import services as people
from participants.models import Enrolment
from participants.states import ENDINGS, State
from payouts.models import LedgerRow
from studies.models import Placement
from tests.visitors import EQUAL_SPLIT, Visitor, arrived_participant, heading_of, launched_study, text_of

pytestmark = pytest.mark.django_db

QUESTION = {"kind": "long", "text": "What did you think about?", "name": "thoughts"}
LAST_STEP = {"quiz": False}
SURVEY_AFTER = {"quiz": False, "after": [QUESTION]}


def player(**fields: object) -> Visitor:
    """Return someone who has made every move and not pressed “Continue”."""
    visitor = Visitor(arrived_participant(launched_study(**fields))).walk_to("match")
    visitor.move(**EQUAL_SPLIT)
    visitor.let_agent_answer()
    return visitor


def owed(visitor: Visitor) -> dict[str, str]:
    return {row.reason: str(row.amount) for row in LedgerRow.objects.filter(enrolment=visitor.enrolment)}


def expire(visitor: Visitor) -> None:
    Enrolment.objects.filter(pk=visitor.enrolment.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    people.end_expired()


FULL_PAY = {"base": "1.00", "bonus": "1.00"}
"""Of an equal split under the default rule."""


class TestLastMove:
    def test_completes_and_pays_in_full_without_a_click_for_good(self):
        visitor = player(**LAST_STEP)
        assert visitor.now().state == State.COMPLETED
        assert owed(visitor) == FULL_PAY
        assert Placement.objects.get().released_at is None
        assert all(visit.answered_at for visit in visitor.now().visits)
        expire(visitor)
        visitor.client.post(f"{visitor.url}leave/")
        assert visitor.now().state == State.COMPLETED and owed(visitor) == FULL_PAY

    def test_the_result_stays_until_continue_and_its_page_keeps_its_seat(self):
        visitor = player(**LAST_STEP)
        for _reload in range(2):
            page = text_of(visitor.see())
            assert "Continue" in page and "Step" not in page and "Leave the study" not in page
        assert heard(visitor.match().seats.get(role="alice"))
        assert visitor.send().status_code == 302
        assert heading_of(visitor.see()) == ENDINGS[State.COMPLETED].title
        assert "$2.00" in text_of(visitor.see()) and "stay unanswered" not in text_of(visitor.see())

    def test_a_match_without_result_completes_nobody_and_the_seat_is_gone(self):
        visitor = Visitor(arrived_participant(launched_study(**LAST_STEP))).walk_to("match")
        Match.objects.update(status=Match.Status.ABANDONED)
        expire(visitor)
        assert visitor.now().state == State.DROPPED_OUT and not owed(visitor)
        assert not heard(visitor.match().seats.get(role="alice"))


class TestOpenQuestions:
    @pytest.mark.parametrize(("fields", "steps"), [({}, ["quiz"]), (SURVEY_AFTER, ["questions"])])
    @pytest.mark.parametrize("page", ["result", "question"])
    @pytest.mark.parametrize("way", ["expiry", "leaving"])
    def test_stay_open_at_full_pay(self, fields, steps, page, way):
        visitor = player(**fields)
        assert visitor.now().state == State.PLAYING
        if page == "question":
            visitor.send()
            visitor.see()
        leave = f"{visitor.url}leave/"
        assert "you are paid in full." in text_of(visitor.client.get(leave))
        if way == "expiry":
            expire(visitor)
        else:
            visitor.client.post(leave)
        assert visitor.now().state == State.COMPLETED
        assert owed(visitor) == FULL_PAY
        assert people.unanswered(visitor.now()) == steps
        last_page = visitor.see()
        assert heading_of(last_page) == ENDINGS[State.COMPLETED].title
        assert "questions after it stay unanswered." in text_of(last_page)
        assert (Placement.objects.get().released_at is not None) == (steps == ["quiz"]), "the dataset needs the quiz"

    def test_a_wrong_quiz_answer_still_ends_as_such(self):
        visitor = player()
        visitor.send()
        visitor.send(loss_rate="5%")
        assert visitor.now().state == State.FAILED_QUIZ


class TestThoseAway:
    """The clock played to the end for someone: only their own “Continue” completes."""

    @pytest.fixture
    def visitor(self) -> Visitor:
        visitor = Visitor(arrived_participant(launched_study(**LAST_STEP))).walk_to("match")
        visitor.move(**EQUAL_SPLIT)
        Match.objects.update(absences={"alice": {"missed": 1}})
        visitor.let_agent_answer()
        return visitor

    def test_expiry_is_dropping_out_after_half(self, visitor):
        assert visitor.now().state == State.PLAYING
        expire(visitor)
        assert visitor.now().state == State.DROPPED_OUT
        assert owed(visitor) == {"base": "1.00"}

    def test_continue_completes(self, visitor):
        visitor.see()
        visitor.send()
        assert visitor.now().state == State.COMPLETED and owed(visitor) == FULL_PAY


def test_before_the_end_the_leaving_page_still_warns():
    visitor = Visitor(arrived_participant(launched_study())).walk_to("match")
    page = text_of(visitor.client.get(f"{visitor.url}leave/"))
    assert "and you can't come back" in page and "paid in full" not in page
