"""Simulated participants can answer every kind of survey question."""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest

from participants.models import Enrolment
from participants.services import expiry_after
from participants.states import State
from piloting.answering import answers
from piloting.models import Walker
from piloting.reading import read
from plans.questions import Kind
from tests.visitors import Visitor, arrived_participant, launched_study

pytestmark = pytest.mark.django_db
QUESTIONS = [
    {"kind": "number", "name": "age", "text": "How old are you?", "min": 18, "max": 99, "ends_if": "age < 60"},
    {"kind": "number", "name": "any", "text": "A number"},
    {"kind": "number", "name": "low", "text": "At most", "max": -3},
    {"kind": "number", "name": "share", "text": "A share", "min": 0.25, "max": 0.5, "show_if": "age > 17"},
    {"kind": "text", "name": "who", "text": "Who?", "show_if": "age < 18"},
    {"kind": "long", "name": "why", "text": "Why?"},
    {"kind": "single", "name": "which", "text": "Which?", "options": ["this", "that"], "ends_if": "which == 'that'"},
    {"kind": "multiple", "name": "some", "text": "Which ones?", "options": ["this", "that", "those"], "max": 2},
    {"kind": "ranking", "name": "best", "text": "Which first?", "options": [str(n) for n in range(11)]},
    {"kind": "scale", "name": "much", "text": "How much?", "points": 2},
    {
        "kind": "matrix", "name": "each", "text": "How often?",
        "rows": [{"name": "tea", "text": "Tea"}, {"name": "milk", "text": "Milk"}], "options": ["never", "daily"],
    },
    {"kind": "slider", "name": "warm", "text": "How warm?", "min": 0, "max": 100, "step": 5},
    {"kind": "date", "name": "born", "text": "When?", "valid_if": "born < '2020-01-01'"},
]  # fmt: skip


def test_every_kind_of_question_is_covered():
    assert {question["kind"] for question in QUESTIONS} == set(get_args(Kind))


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_question_is_answered(seed):
    visitor = Visitor(arrived_participant(launched_study(before=QUESTIONS)))
    visitor.send(agree="yes")
    visitor.send(name="Robin")
    enrolment = Enrolment.objects.get()
    assert enrolment.step["kind"] == "questions"
    page = read(visitor.see().content.decode())
    posted = answers(page, enrolment, Walker.Plan.FINISH, Random(seed))
    posted.pop("position")
    assert visitor.send(**posted).status_code == 302
    assert visitor.now().step["kind"] == "instructions"


@pytest.mark.parametrize(
    "step",
    [
        {"kind": "page", "name": "opening", "text": "Hello."},
        {"kind": "comprehension", "tries": 1, "failed": "end", "questions": None},
        {"kind": "instructions", "code_word": {"tries": 1}, "examples": "Of {{ 100|money }}."},
    ],
)
def test_other_steps_are_answered(step):
    game = {"game": "bargaining", "config": {}, "role": "alice"}
    steps = [{**game, **step}, {"kind": "page", "name": "last"}]
    visitor = Visitor(Enrolment.objects.create(steps=steps, state=State.CONSENTED, expires_at=expiry_after(30)))
    page = read(visitor.see().content.decode())
    posted = answers(page, visitor.enrolment, Walker.Plan.FINISH, Random(1))
    posted.pop("position")
    assert visitor.send(**posted).status_code == 302
    assert visitor.now().step["name"] == "last"


def test_numeric_text_fields_are_recognized():
    page = read('<main><form><input type="text" inputmode="decimal" name="amount"></form></main>')
    assert page.fields["amount"].kind == "number"
