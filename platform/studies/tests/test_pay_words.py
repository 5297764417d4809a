"""What participants read about pay and time: accurate, in advance, and with the reason afterwards."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

from games import registry
from games.bargaining.rules import Bargaining
from games.interface import Question
from games.play import configure, start, submit
from matches import bonus
from participants.states import State
from plans.pay import PayRule
from recruiters.arrivals import Arrival
from recruiters.errors import NotAgain
from studies import texts
from studies.enrolling import enrol
from tests.visitors import Visitor, arrived_participant, launched_study, text_of

pytestmark = pytest.mark.django_db


def arrived_visitor(**fields: object) -> Visitor:
    return Visitor(arrived_participant(launched_study(**fields)))


@pytest.mark.parametrize(
    ("endings", "pay"),
    [({}, "$1.00 once you have played half"), ({"timed_out": "nothing"}, "nothing ")],
)
def test_consent_states_duration_and_effect_of_absence(endings, pay):
    page = text_of(arrived_visitor(endings=endings).see())
    for phrase in ("at most 120 minutes", "each answer, plus 1 minute more", "up to 12 rounds"):
        assert phrase in page
    assert f"and you are paid {pay}" in page


def test_study_without_a_quiz_mentions_none():
    visitor = arrived_visitor(quiz=False)
    assert "answer one question" not in text_of(visitor.see())
    assert "one question" not in text_of(visitor.walk_to("match").see()).split("Your pay")[1]


def test_new_study_explains_points_by_its_pay_rule():
    page = text_of(arrived_visitor(average=Decimal("3.00")).walk_to("instructions").see())
    assert "Points are not money" in page and "5,000 points, your bonus is $3.00" in page
    assert "$10,000" not in page


def test_study_may_use_dollars():
    page = text_of(arrived_visitor(amounts="dollars").walk_to("instructions").see())
    assert "$10,000" in page and "10,000 points" not in page


@pytest.mark.parametrize(("complete", "message"), [(True, {"accept", "walk_away"}), (False, {"walk_away"})])
def test_examples_reveal_no_private_information(complete, message):
    config = {"seller_factor": 0.8, "buyer_factor": 1.2, "complete_information": complete}
    play, _events = start(configure(registry.get("negotiation"), config), 1)
    play, _events = submit(play, "alice", {"price": 10_000})
    rule = PayRule().model_dump_json()
    so_far, promises = bonus.shown(play, "bob", rule)
    assert {promise.key for promise in promises} == message
    assert so_far == bonus.SoFar((bonus.Promise("Without an agreement", "$1.00"),))


@pytest.mark.parametrize(
    ("answer", "total"),
    [("10%", "Total $2.00"), ("20%", "was right -$1.00 Total $1.00")],
)
def test_last_page_adds_up_the_bonus_and_what_a_wrong_answer_cost(answer, total):
    visitor = arrived_visitor().walk_to("quiz")
    assert "otherwise, $1.00." in text_of(visitor.see())
    visitor.send(loss_rate=answer)
    page = " ".join(text_of(visitor.see()).split())
    assert re.search(r"For taking part \$1\.00 Bonus .*5,000 points.*, 50% of \$2\.00 \$1\.00", page) and total in page
    assert ("Your answer 20%" in page and "Correct answer 10%" in page) == (answer == "20%")


def test_problem_report_extends_the_turn_once():
    visitor = arrived_visitor().walk_to("match")
    deadline = visitor.match().open_turns()["alice"].deadline
    page = text_of(visitor.client.get(f"{visitor.url}problem/"))
    assert "your answer in the game:" in page and "We added 60 seconds" in page
    extended_deadline = visitor.match().open_turns()["alice"].deadline
    assert (extended_deadline - deadline).total_seconds() == 60
    visitor.client.get(f"{visitor.url}problem/")
    assert visitor.match().open_turns()["alice"].deadline == extended_deadline
    assert "your answer in the game:" in text_of(visitor.client.get(f"{visitor.url}leave/"))


def test_reaccepted_task_must_be_returned():
    study = launched_study(via="mturk")
    first = Visitor(enrol(study, Arrival("mturk", worker="W", proof="A1")))
    first.client.post(f"{first.url}leave/")
    assert first.now().state == State.WITHDREW
    with pytest.raises(NotAgain, match="Please return this task"):
        enrol(study, Arrival("mturk", worker="W", proof="A2"))


def test_linear_rule_example_uses_its_rate():
    game = configure(registry.get("bargaining"), {})
    rule = PayRule(rule="linear", rate=Decimal("0.0002"), cap=Decimal(5))
    assert "your bonus is $1.00" in texts.worked_examples(rule, game, "alice")


def test_quiz_with_several_questions_says_so(monkeypatch):
    own = Bargaining.quiz
    second = Question.with_answer("again", "Which offer?", "this one", "that one", explanation="It was.")
    monkeypatch.setattr(Bargaining, "quiz", lambda game, role: (*own(game, role), second))
    visitor = arrived_visitor()
    assert "few questions about it" in text_of(visitor.see())
    page = text_of(visitor.walk_to("quiz").see())
    assert "Please answer these 2 questions" in page and "every answer must be correct" in page
    assert "Send the answers" in page


def test_consent_announces_questions_before_play():
    visitor = arrived_visitor(quiz=False, comprehension={"tries": 2})
    page = text_of(visitor.see())
    assert "you answer a few questions" in page
    assert "You get a" in page
