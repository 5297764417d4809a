"""A participant's path through a study: every page, refusal and ending."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from checks.models import Verdict
from matches.models import Event, Match
from participants import services
from participants.models import Enrolment, ProblemReport
from participants.signals import enrolment_ended
from participants.states import ENDINGS, State
from tests.visitors import STEP_KINDS, Visitor, arrived_participant, heading_of, launched_study, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def visitor() -> Visitor:
    """A participant who has just arrived."""
    return Visitor(arrived_participant(launched_study()))


def state_of(visitor: Visitor) -> tuple[str, int]:
    enrolment = visitor.now()
    return enrolment.state, enrolment.position


def test_full_path_ends_with_code_and_pay(visitor):
    visitor.walk_to("quiz")
    assert state_of(visitor) == (State.QUIZ, 4)
    assert visitor.send(loss_rate="10%").status_code == 302
    page = visitor.see()
    assert state_of(visitor) == (State.COMPLETED, 5)
    assert heading_of(page) == ENDINGS[State.COMPLETED].title
    assert visitor.now().completion_code in text_of(page)
    assert "$2.00" in text_of(page)
    assert all(visit.answered_at for visit in visitor.now().visits)


@pytest.mark.parametrize("kind", STEP_KINDS)
def test_every_page_shows_progress_help_and_the_exit(visitor, kind):
    page = text_of(visitor.walk_to(kind).see())
    assert f"Step {STEP_KINDS.index(kind) + 1} of {len(STEP_KINDS)}" in page
    assert "Report a problem" in page
    assert "Leave the study" in page


class TestConsent:
    def test_only_the_ticked_box_gives_consent(self, visitor):
        assert "tick the box" in text_of(visitor.refused())
        assert state_of(visitor) == (State.ARRIVED, 0)
        assert visitor.send(agree="no").status_code == 303
        for _click in range(2):
            assert visitor.send(position=0, agree="yes").status_code == 302
        assert state_of(visitor) == (State.CONSENTED, 1)


class TestName:
    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            pytest.param("", "at least two letters", id="none"),
            pytest.param("   ", "at least two letters", id="spaces"),
            pytest.param("R", "at least two letters", id="one letter"),
            pytest.param("R.", "at least two letters", id="one letter and a period"),
            pytest.param("Q" * 31, "at most 30", id="too long"),
            pytest.param("Alice", "used by the game", id="a role"),
            pytest.param("  bOB ", "used by the game", id="another role in mixed case"),
            pytest.param("bargaining", "used by the game", id="the game"),
            pytest.param("Opponent", "used by the game", id="the game's word for the other player"),
            pytest.param("Accept", "used by the game", id="a word of the game's moves"),
            pytest.param("<b>Robin</b>", "only letters", id="markup"),
            pytest.param("{{ name }}", "only letters", id="template"),
            pytest.param("Ro\x00bin", "only letters", id="unstorable"),
            pytest.param("42", "letters", id="digits"),
        ],
    )
    def test_invalid_name_is_refused_with_the_reason_at_the_field(self, visitor, name, reason):
        page = visitor.walk_to("name").refused(name=name)
        html = page.content.decode()
        assert 'id="name-error"' in html and reason in html.split('id="name-error"')[1].split("</p>")[0]
        assert 'aria-invalid="true"' in html
        assert "<b>Robin" not in html
        assert state_of(visitor) == (State.CONSENTED, 1)
        assert visitor.now().display_name == ""

    @pytest.mark.parametrize("name", ["Jo", "Ana María", "O'Neil", "O’Neil", "Jean-Luc", "Łukasz", "佐藤", "मैरी"])
    def test_names_of_many_scripts_are_accepted(self, visitor, name):
        assert visitor.walk_to("name").send(name=f" {name} ").status_code == 302
        assert visitor.now().display_name == name


class TestInstructions:
    def test_instructions_contain_the_participants_code_word(self, visitor):
        visitor.walk_to("instructions")
        assert f"remember the word {visitor.enrolment.code_word} :" in text_of(visitor.see())

    @pytest.mark.parametrize("typed", ["{}", " {} ", "“{}”", "{}."])
    def test_correct_word_is_accepted_in_any_spelling(self, visitor, typed):
        visitor.walk_to("instructions")
        assert visitor.send(code_word=typed.format(visitor.enrolment.code_word.upper())).status_code == 302
        assert state_of(visitor) == (State.INSTRUCTED, 3)
        assert Verdict.objects.get().passed

    def test_empty_word_does_not_count_as_a_try(self, visitor):
        page = visitor.walk_to("instructions").refused(code_word=" ")
        assert "enter the word" in text_of(page)
        assert state_of(visitor) == (State.CONSENTED, 2)
        assert not Verdict.objects.exists()

    @pytest.mark.parametrize("typed", ["wrung", "x" * 5000, "no\x00"])
    def test_second_wrong_word_ends_the_enrolment_before_any_match_and_a_third_try_is_ignored(self, visitor, typed):
        assert "one more try" in text_of(visitor.walk_to("instructions").refused(code_word=typed))
        assert not Verdict.objects.exists()
        assert visitor.send(code_word=typed).status_code == 302
        visitor.send(position=2, code_word=visitor.enrolment.code_word)
        page = visitor.see()
        assert heading_of(page) == ENDINGS[State.FAILED_CODE_WORD].title
        assert visitor.enrolment.code_word in text_of(page) and typed[:5].strip("\x00") in text_of(page)
        assert visitor.now().state == State.FAILED_CODE_WORD
        verdict = Verdict.objects.get()
        assert not verdict.passed
        assert verdict.shown == visitor.enrolment.code_word
        assert "\x00" not in verdict.answered
        assert not Match.objects.exists()

    def test_correct_second_try_passes(self, visitor):
        visitor.walk_to("instructions").refused(code_word="wrong")
        assert visitor.send(code_word=visitor.enrolment.code_word).status_code == 302
        assert state_of(visitor) == (State.INSTRUCTED, 3)


def test_error_is_shown_once_and_a_reload_clears_it(visitor):
    visitor.walk_to("name").refused(name="R")
    assert "at least two letters" not in text_of(visitor.see())
    page = visitor.send(name="")
    assert page.status_code == 303 and page.headers["Location"] == visitor.url


class TestQuiz:
    def test_missing_answer_and_one_outside_the_options_are_asked_for_again(self, visitor):
        page = visitor.walk_to("quiz").refused()
        assert "choose one answer" in text_of(page)
        assert state_of(visitor) == (State.QUIZ, 4)
        assert visitor.send(loss_rate="55%").status_code == 303
        assert not Verdict.objects.filter(check_name="quiz").exists()

    def test_wrong_answer_ends_the_enrolment_with_base_pay_only(self, visitor):
        visitor.walk_to("quiz").send(loss_rate="20%")
        page = visitor.see()
        assert visitor.now().state == State.FAILED_QUIZ
        assert heading_of(page) == ENDINGS[State.FAILED_QUIZ].title
        assert visitor.now().earnings["total"] == "$1.00"
        verdict = Verdict.objects.get(check_name="quiz")
        assert not verdict.passed
        assert verdict.answered == {"loss_rate": "20%"}
        assert "20%" in verdict.shown["loss_rate"]["options"]

    def test_options_keep_their_order_after_reloads(self, visitor):
        first, second = visitor.walk_to("quiz").see(), visitor.see()
        assert first.content == second.content


class TestGoingBack:
    def test_reload_shows_the_same_page_and_changes_nothing(self, visitor):
        visitor.walk_to("match")
        before = Enrolment.objects.values_list("state", "position", "seed", "code_word").get()
        visitor.see()
        visitor.see()
        assert Enrolment.objects.values_list("state", "position", "seed", "code_word").get() == before
        assert Match.objects.count() == 1
        assert [visit.kind for visit in visitor.now().visits].count("match") == 1

    @pytest.mark.parametrize(
        ("position", "fields"),
        [
            (0, {"agree": "yes"}), (0, {}), (1, {"name": "Sascha"}), (2, {"code_word": "wrong"}),
            (4, {"loss_rate": "20%"}), (99, {}), (-1, {}), ("", {}), ("x", {}), ("9" * 5000, {}),
        ],
    )  # fmt: skip
    def test_post_from_another_step_shows_the_current_step(self, visitor, position, fields):
        visitor.walk_to("match")
        response = visitor.send(position=position, **fields)
        assert response.status_code == 302
        assert response["Location"] == visitor.url
        assert state_of(visitor) == (State.PLAYING, 3)
        assert visitor.now().display_name == "Robin"
        assert Verdict.objects.count() == 1

    def test_the_game_cannot_be_skipped(self, visitor):
        page = visitor.walk_to("match").refused()
        assert "still in progress" in text_of(page)
        assert state_of(visitor) == (State.PLAYING, 3)


class TestLinks:
    @pytest.mark.parametrize("page", ["", "leave/", "problem/"])
    @pytest.mark.parametrize("token", ["forged", "x" * 500, "%3Cscript%3E", "%00", "..%2f"])
    def test_forged_link_gets_an_explanatory_page(self, db, page, token):
        response = Client().get(f"/p/{token}/{page}")
        assert response.status_code == 404
        assert "link" in text_of(response)
        assert b"<script>" not in response.content
        assert Client().post(f"/p/{token}/{page}").status_code == 404

    def test_expired_link_takes_no_answer_and_says_that_the_place_was_given_away(self, visitor):
        visitor.walk_to("name")
        Enrolment.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        visitor.send(name="Robin")
        page = visitor.see()
        assert page.status_code == 200
        assert heading_of(page) == ENDINGS[State.DROPPED_OUT].title
        assert state_of(visitor) == (State.DROPPED_OUT, 1)

    def test_expiry_does_not_affect_ended_enrolments(self, visitor):
        visitor.walk_to("quiz").send(loss_rate="10%")
        Enrolment.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
        services.end_expired()
        assert heading_of(visitor.see()) == ENDINGS[State.COMPLETED].title


def test_one_enrolments_error_does_not_block_the_others():
    long_ago = timezone.now() - timedelta(hours=1)
    enrolments = [Enrolment.objects.create(expires_at=long_ago) for _i in range(3)]

    def fail_for_one(enrolment, **_signal):
        if enrolment == enrolments[1]:
            raise ValueError("what is kept of them cannot be read")

    enrolment_ended.connect(fail_for_one)
    try:
        assert services.end_expired() == 2
    finally:
        enrolment_ended.disconnect(fail_for_one)
    assert [Enrolment.objects.get(pk=enrolment.pk).ended for enrolment in enrolments] == [True, False, True]
    assert services.end_expired() == 1


class TestLeaving:
    def test_opening_the_page_changes_nothing(self, visitor):
        visitor.walk_to("name")
        page = visitor.client.get(f"{visitor.url}leave/")
        assert page.status_code == 200
        assert "not paid if you leave" in text_of(page)
        assert state_of(visitor) == (State.CONSENTED, 1)

    @pytest.mark.parametrize("kind", STEP_KINDS[:-1])
    def test_post_withdraws_at_every_step_up_to_the_match(self, visitor, kind, django_capture_on_commit_callbacks):
        visitor.walk_to(kind)
        with django_capture_on_commit_callbacks(execute=True):
            assert visitor.client.post(f"{visitor.url}leave/").status_code == 302
        assert visitor.now().state == State.WITHDREW
        assert heading_of(visitor.see()) == ENDINGS[State.WITHDREW].title
        assert not Match.objects.filter(status=Match.Status.LIVE).exists()

    def test_ended_enrolment_cannot_be_withdrawn_or_answered(self, visitor):
        visitor.walk_to("quiz").send(loss_rate="10%")
        visitor.client.post(f"{visitor.url}leave/")
        visitor.send(position=4, loss_rate="20%")
        visitor.send(position=5)
        assert state_of(visitor) == (State.COMPLETED, 5)
        assert "already finished or left" in text_of(visitor.client.get(f"{visitor.url}leave/"))


class TestProblemReport:
    def test_report_is_stored_and_the_step_is_kept(self, visitor):
        visitor.walk_to("match")
        page = visitor.client.post(f"{visitor.url}problem/", {"text": " The <b>button</b> is gone. "})
        assert "Thank you" in text_of(page)
        report = ProblemReport.objects.get()
        assert (report.enrolment, report.text) == (visitor.enrolment, "The <b>button</b> is gone.")
        assert state_of(visitor) == (State.PLAYING, 3)

    def test_any_text_can_be_stored_but_no_empty_one(self, visitor):
        visitor.client.get(f"{visitor.url}problem/")
        visitor.client.post(f"{visitor.url}problem/", {"text": "  "})
        assert not ProblemReport.objects.exists()
        response = visitor.client.post(f"{visitor.url}problem/", {"text": "x\x00y" * 3000})
        assert response.status_code == 200
        text = ProblemReport.objects.get().text
        assert len(text) == 2000
        assert "\x00" not in text

    def test_report_can_be_sent_after_the_end(self, visitor):
        visitor.walk_to("instructions").send(code_word="wrong")
        visitor.client.post(f"{visitor.url}problem/", {"text": "I typed the right word."})
        assert ProblemReport.objects.count() == 1


@pytest.mark.parametrize("state", ENDINGS)
def test_endings_are_final(visitor, state):
    visitor.walk_to("name")
    services.end(visitor.now(), State(state))
    ended_at = visitor.now().ended_at
    for other in ENDINGS:
        services.end(visitor.now(), State(other))
    visitor.send(position=1, name="Robin")
    assert visitor.now().state == state
    assert visitor.now().ended_at == ended_at


def test_visits_record_when_steps_were_shown_and_answered(visitor):
    visitor.walk_to("quiz").send(loss_rate="10%")
    visits = visitor.now().visits
    assert [visit.kind for visit in visits] == list(STEP_KINDS)
    assert all(visit.shown_at <= visit.answered_at for visit in visits)
    move = Event.objects.get(kind="move", role="alice")
    assert move.asked_at <= move.shown_at <= move.at
