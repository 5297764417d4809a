"""Conditional steps: judged once when reached, skipped if false, and then as if they were not there."""

from __future__ import annotations

import pytest

from participants import services as people
from participants.models import Enrolment
from participants.services import answer_step, expiry_after, show_step
from participants.states import State
from participants.steps import Step, register
from tests.visitors import Visitor, arrived_participant, launched_study, text_of

pytestmark = pytest.mark.django_db


@register
class Shelf(Step):
    """A kind of step that only this test knows."""

    kind = "test_shelf"
    title = "A shelf"
    template = "participants/name.html"
    state = State.CONSENTED

    def context(self):
        return {}

    def answer(self, data):
        self.enrolment.steps = [{**step, "seen": True} for step in self.enrolment.steps]


def asked(name: str, **step) -> dict:
    items = [{"kind": "number", "name": name, "text": f"Your {name}?", "required": False}]
    return {"kind": "questions", "name": f"page_{name}", "items": items, "before_game": True, **step}


def enrolled(*steps: dict) -> Enrolment:
    return Enrolment.objects.create(steps=list(steps), state=State.CONSENTED, expires_at=expiry_after(30))


def answered(enrolment: Enrolment, **data: str) -> Enrolment:
    show_step(enrolment_id=enrolment.pk)
    return answer_step(enrolment_id=enrolment.pk, position=Enrolment.objects.get(pk=enrolment.pk).position, data=data)


def test_a_kind_registered_elsewhere_is_reached_through_a_condition():
    enrolment = enrolled(asked("age"), {"kind": "test_shelf", "show_if": "age > 17"}, asked("pay"))
    assert answered(enrolment, question_age="18").step["kind"] == "test_shelf"
    assert answered(enrolment).step["name"] == "page_pay"


def test_a_false_condition_skips_the_step_and_is_recorded():
    enrolment = enrolled(asked("age"), {"kind": "test_shelf", "show_if": "age > 17"}, asked("pay"))
    after = answered(enrolment, question_age="17")
    assert after.step["name"] == "page_pay"
    stored = Enrolment.objects.get().steps
    assert [step.get("shown") for step in stored] == [None, False, None]
    answered(enrolment, question_pay="1")
    assert Enrolment.objects.get().state == State.COMPLETED
    assert [visit.position for visit in Enrolment.objects.get().visits] == [0, 2]


def test_a_skipped_last_step_completes():
    enrolment = enrolled(asked("age"), asked("pay", show_if="age > 17"), asked("car", show_if="pay > 1"))
    assert answered(enrolment, question_age="3").state == State.COMPLETED
    assert [step.get("shown") for step in Enrolment.objects.get().steps] == [None, False, False]


def test_a_condition_is_judged_only_when_reached():
    enrolment = enrolled(asked("age"), asked("pay"), asked("car", show_if="not (pay > 1)"))
    answered(enrolment, question_age="3")
    assert "shown" not in Enrolment.objects.get().steps[2]
    assert answered(enrolment, question_pay="2").state == State.COMPLETED


def test_progress_lists_a_conditional_step_once_it_is_known_to_be_shown():
    visitor = Visitor(enrolled(asked("age"), asked("pay", show_if="age > 17", title="Your money"), asked("car")))
    assert "Step 1 of 2" in text_of(visitor.see()) and "Your money" not in text_of(visitor.see())
    visitor.send(question_age="20")
    assert "Step 2 of 3: Your money" in text_of(visitor.see())


def add_after_match(visitor: Visitor, *steps: dict) -> None:
    """Replace what follows the match, and give it a name."""
    kept = visitor.now().steps[: 1 + [step["kind"] for step in visitor.enrolment.steps].index("match")]
    kept[-1] |= {"stage": "talk", "repeat": 1}
    Enrolment.objects.filter(pk=visitor.enrolment.pk).update(steps=[*kept, *steps])


@pytest.fixture
def visitor() -> Visitor:
    """A participant in a match."""
    return Visitor(arrived_participant(launched_study())).walk_to("match")


@pytest.mark.parametrize("condition", ["talk.1.agreement", "talk.1.payoff > 1 and talk.1.agreement == true"])
def test_results_of_matches_are_known_by_the_name_of_their_stage(visitor, condition):
    add_after_match(visitor, asked("pay", before_game=False, show_if=condition))
    visitor.agree()
    assert visitor.now().step["name"] == "page_pay"


def test_the_last_move_completes_if_nothing_else_is_shown(visitor):
    add_after_match(visitor, asked("pay", before_game=False, show_if="not talk.1.agreement"))
    visitor.move(alice_gain="5000", bob_gain="5000")
    visitor.let_agent_answer()
    assert visitor.now().state == State.COMPLETED
    assert visitor.enrolment.steps[-1]["shown"] is False
    page = visitor.see()
    assert "Continue" in text_of(page)
    visitor.send()
    assert "You played the whole game" in text_of(visitor.see()) and "unanswered" not in text_of(visitor.see())


def test_leaving_a_result_is_finished_unless_a_required_step_is_shown(visitor):
    add_after_match(visitor, {"kind": "test_shelf", "show_if": "talk.1.agreement"})
    visitor.move(alice_gain="5000", bob_gain="5000")
    visitor.let_agent_answer()
    assert visitor.now().state != State.COMPLETED and not people.is_finished(visitor.enrolment)
    visitor.client.post(f"{visitor.url}leave/")
    assert visitor.now().state == State.WITHDREW


def test_unanswered_steps_are_those_that_would_be_shown(visitor):
    add_after_match(visitor, asked("pay", before_game=False), asked("car", before_game=False, show_if="pay > 1"))
    visitor.agree()
    visitor.send(question_pay="1")
    assert visitor.now().state == State.COMPLETED and people.unanswered(visitor.enrolment) == []
