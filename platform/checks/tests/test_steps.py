"""The quizzes and the code word as steps: tries, explanations, verdicts."""

from __future__ import annotations

import pytest

from checks.models import Verdict
from checks.rules_text import part_about
from exports.gate import participant_reasons
from exports.participants import facts_of
from games import registry
from games.play import configure
from participants.models import Enrolment
from participants.services import expiry_after
from participants.states import State
from tests.visitors import Visitor, heading_of, text_of

pytestmark = pytest.mark.django_db

GAME = {
    "game": "bargaining", "config": {"money": 100, "delta_alice": 0.9}, "role": "alice", "texts": {}, "stage": "talk",
}  # fmt: skip
OWN = [
    {"text": "Who moves first?", "options": ["Alice", "Bob"], "answer": "Alice", "explanation": "Alice **begins**."},
    {"text": "How often?", "options": ["once", "twice"], "answer": "twice"},
]
LAST = {"kind": "page", "name": "last", "title": "The last page"}


def at(**step) -> Visitor:
    """Return a participant at this step, with one more page to come."""
    steps = [{**GAME, **step}, LAST]
    fields = {"state": State.CONSENTED, "expires_at": expiry_after(30), "earnings": {"amounts": []}}
    return Visitor(Enrolment.objects.create(steps=steps, **fields))


def quizzed(**step) -> Visitor:
    return at(kind="comprehension", **{"questions": OWN, "tries": 3, "failed": "end", **step})


class TestComprehension:
    def test_right_answers_lead_on(self):
        visitor = quizzed()
        assert "2 questions about the rules" in text_of(visitor.see())
        assert visitor.send(q1="Alice", q2="twice").status_code == 302
        assert heading_of(visitor.see()) == "The last page"
        verdict = Verdict.objects.get()
        assert (verdict.check_name, verdict.stage, verdict.passed) == ("comprehension", "talk", True)
        assert verdict.tries == [{"q1": "Alice", "q2": "twice"}]

    def test_only_missed_questions_are_asked_again_and_explained(self):
        visitor = quizzed()
        page = visitor.refused(q1="Bob", q2="twice")
        assert "Alice begins" in text_of(page) and "“Bob” is not right" in text_of(page)
        assert "How often?" not in text_of(page) and "You have 2 tries" in text_of(page)
        assert "Alice begins" in text_of(visitor.see())  # also after reloading
        assert visitor.send(q1="Alice").status_code == 302
        assert Verdict.objects.get().tries == [{"q1": "Bob", "q2": "twice"}, {"q1": "Alice"}]

    def test_the_games_own_questions_are_explained(self):
        visitor = quizzed(questions=None)
        visitor.see()
        page = text_of(visitor.refused(loss_rate="20%", rejecting="The other player makes the next offer"))
        assert page.count("is not right.") == 1
        assert "money loses 10%" in page.split("is not right.")[1][:200]

    def test_own_questions_without_an_explanation_are_explained_by_the_rules(self):
        asked = {"text": "How much value does money lose for you?", "options": ["0%", "10%"], "answer": "10%"}
        visitor = quizzed(questions=[asked])
        visitor.see()
        assert "Waiting costs you" in text_of(visitor.refused(q1="0%")).split("is not right.")[1][:400]

    def test_every_question_must_be_answered(self):
        visitor = quizzed()
        assert "Please choose one answer" in text_of(visitor.refused(q1="Alice"))
        assert "You have 3 tries" in text_of(visitor.see())

    def test_the_same_page_sent_twice_is_one_try(self):
        visitor = quizzed(tries=2)
        visitor.refused(q1="Bob", q2="once", tried="0")
        visitor.refused(q1="Bob", q2="once", tried="0")
        assert not visitor.now().ended

    def test_the_last_wrong_try_ends_the_study_with_an_explanation(self):
        visitor = quizzed(tries=2)
        visitor.refused(q1="Bob", q2="twice")
        assert "wrong answer ends the study" in text_of(visitor.see())
        visitor.send(q1="Bob")
        assert visitor.now().state == State.FAILED_COMPREHENSION
        page = text_of(visitor.see())
        assert "the game did not start" in page and "Correct answer Alice" in page and "How often?" not in page
        assert participant_reasons(facts_of(visitor.enrolment, visitor.enrolment.ended_at)) == {"failed_comprehension"}

    def test_or_lets_the_participant_go_on_and_is_recorded(self):
        visitor = quizzed(tries=1, failed="continue")
        assert visitor.send(q1="Bob", q2="once").status_code == 302
        assert heading_of(visitor.see()) == "The last page"
        assert Verdict.objects.get().passed is False

    def test_every_stage_has_its_own_verdict(self):
        enrolment = Enrolment.objects.create(
            steps=[
                {**GAME, "kind": "comprehension", "questions": OWN, "tries": 1, "failed": "end", "stage": stage}
                for stage in ("one", "two")
            ],
            state=State.CONSENTED,
            expires_at=expiry_after(30),
        )
        visitor = Visitor(enrolment)
        for _stage in range(2):
            visitor.see()
            visitor.send(q1="Alice", q2="twice")
        assert sorted(Verdict.objects.values_list("stage", flat=True)) == ["one", "two"]


class TestCodeWord:
    def test_as_many_tries_as_the_study_allows(self):
        visitor = at(kind="instructions", code_word={"tries": 3})
        assert "You have 3 tries" in text_of(visitor.see())
        assert "You have 2 more tries" in text_of(visitor.refused(code_word="elsewhere"))
        assert "one more try" in text_of(visitor.refused(code_word="nowhere"))
        visitor.send(code_word="somewhere")
        assert visitor.now().state == State.FAILED_CODE_WORD
        assert Verdict.objects.get().tries == ["elsewhere", "nowhere", "somewhere"]

    def test_a_wrong_word_sent_twice_is_one_try(self):
        visitor = at(kind="instructions", code_word={"tries": 2})
        visitor.see()
        for _delivery in range(2):
            assert "You have one more try" in text_of(visitor.refused(code_word="wrong", tried="0"))
        assert visitor.send(code_word=visitor.enrolment.code_word, tried="0").status_code == 302
        assert Verdict.objects.get().tries == ["wrong", visitor.enrolment.code_word]

    def test_examples_are_filled_in_like_the_instructions(self):
        visitor = at(kind="instructions", examples="Of {{ 100|money }}, half is {{ 50|money }}.")
        page = text_of(visitor.see())
        assert "Of $100, half is $50." in page
        assert "remember the word" not in page
        assert visitor.send().status_code == 302


def test_the_part_of_the_rules_is_the_one_with_the_answer():
    game = configure(registry.get("bargaining"), GAME["config"])
    (question,) = game.quiz("alice")
    part = part_about(game.instructions("alice"), question.prompt, question.answer)
    assert "10%" in part and not part.startswith("#") and part in game.instructions("alice")
    assert "divide" in part_about(game.instructions("alice"), "What is divided?", "money")
