"""Simulated participants can answer every kind of survey question."""

from __future__ import annotations

from random import Random
from typing import get_args

import pytest

from participants.models import Enrolment
from piloting.answering import answers
from piloting.models import Walker
from piloting.reading import read
from surveys.questions import Kind
from tests.visitors import Visitor, arrived_participant, launched_study

pytestmark = pytest.mark.django_db
QUESTIONS = [
    {"kind": "number", "prompt": "How old are you?", "least": 18, "most": 99},
    {"kind": "number", "prompt": "A number"},
    {"kind": "number", "prompt": "At most", "most": -3},
    {"kind": "number", "prompt": "A share", "least": 0.25, "most": 0.5},
    {"kind": "text", "prompt": "Why?"},
    {"kind": "choice", "prompt": "Which?", "options": ["this", "that"]},
    {"kind": "scale", "prompt": "How much?", "points": 2},
]


def test_every_kind_of_question_is_covered():
    assert {question["kind"] for question in QUESTIONS} == set(get_args(Kind))


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_question_is_answered(seed):
    visitor = Visitor(arrived_participant(launched_study(survey_before=QUESTIONS)))
    visitor.send(agree="yes")
    visitor.send(name="Robin")
    enrolment = Enrolment.objects.get()
    assert enrolment.step["kind"] == "survey_before"
    page = read(visitor.see().content.decode())
    posted = answers(page, enrolment, Walker.Plan.FINISH, Random(seed))
    posted.pop("position")
    assert visitor.send(**posted).status_code == 302
    assert visitor.now().step["kind"] == "instructions"


def test_numeric_text_fields_are_recognized():
    page = read('<main><form><input type="text" inputmode="decimal" name="amount"></form></main>')
    assert page.fields["amount"].kind == "number"
