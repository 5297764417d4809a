"""Questions: which are refused, which answers they take, and what they do with them."""

from __future__ import annotations

from datetime import date

import pytest
from pydantic import ValidationError

from plans.questions import BadAnswer, Question, faults, in_order, questions_of, read_answers

AB = {"options": ["a", "b"]}
RATED = {"kind": "matrix", "rows": [{"name": "tea", "text": "Tea"}, {"name": "milk", "text": "Milk"}], **AB}


def question(**data) -> Question:
    (made,) = questions_of([{"name": "q", "text": "?", **data}])
    return made


def problems_of(*descriptions, **page) -> str:
    """Return what is wrong with these questions on one page, with their numbers and the fields' titles."""
    try:
        found = list(faults(questions_of(descriptions), **page))
    except ValidationError as error:
        found = [(0, str(fault["loc"][0]), fault["msg"]) for fault in error.errors()]
    return " ".join(f"{1 + index}, {Question.model_fields[field].title}: {reason}" for index, field, reason in found)


@pytest.mark.parametrize(
    ("data", "given", "answer"),
    [
        ({"kind": "number"}, " 3 ", 3),
        ({"kind": "number", "required": False}, "", None),
        ({"kind": "number", "min": 1, "step": 0.25}, "2.75", 2.75),
        ({"kind": "slider", "min": 0, "max": 10}, "10", 10),
        ({"kind": "text"}, "one\r\ntwo\x00", "one two"),
        ({"kind": "long"}, "one\r\ntwo", "one\ntwo"),
        ({"kind": "scale"}, "7", 7),
        ({"kind": "single", "options": [" a ", "b"]}, "a", "a"),
        ({"kind": "multiple", **AB}, ["b", "a"], ["a", "b"]),
        ({"kind": "multiple", **AB, "required": False}, [], None),
        ({"kind": "ranking", **AB}, ["b", "a"], ["b", "a"]),
        ({"kind": "date", "min": date(2000, 1, 1)}, "2000-01-01", "2000-01-01"),
        (RATED, {"tea": "a", "milk": "b", "other": "x"}, {"tea": "a", "milk": "b"}),
        ({**RATED, "required": False}, {"milk": "b"}, {"milk": "b"}),
        ({**RATED, "required": False}, None, None),
    ],
)
def test_answers_are_plain_data_by_kind(data, given, answer):
    assert question(**data).read(given, {}) == answer


@pytest.mark.parametrize(
    ("data", "given"),
    [
        ({"kind": "number"}, ""), ({"kind": "number"}, "many"), ({"kind": "number"}, "nan"),
        ({"kind": "number"}, "1e999"), ({"kind": "number", "max": 5}, "6"), ({"kind": "number", "step": 0.5}, "1.2"),
        ({"kind": "slider", "min": 0, "max": 10}, "2.5"), ({"kind": "long"}, "   "), ({"kind": "long"}, "x" * 2001),
        ({"kind": "text"}, "x" * 301), ({"kind": "scale"}, "8"), ({"kind": "scale"}, "0"), ({"kind": "scale"}, "٣"),
        ({"kind": "single", **AB}, "c"), ({"kind": "single", **AB}, ["a"]), ({"kind": "multiple", **AB}, []),
        ({"kind": "multiple", **AB}, ["c"]), ({"kind": "multiple", **AB, "min": 2}, ["a"]),
        ({"kind": "multiple", **AB, "max": 1}, ["a", "b"]), ({"kind": "ranking", **AB}, ["a"]),
        ({"kind": "ranking", **AB}, ["a", "a"]), ({"kind": "date"}, "2001-02-30"), ({"kind": "date"}, "1/2/2001"),
        ({"kind": "date", "max": "2000-12-31"}, "2001-01-01"), (RATED, {"tea": "a"}),
        (RATED, {"tea": "c", "milk": "a"}), (RATED, "a"),
    ],
)  # fmt: skip
def test_invalid_answers_are_refused(data, given):
    with pytest.raises(BadAnswer):
        question(**data).read(given, {})


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"kind": "choice"}, "Kind of answer"),
        ({"kind": "single"}, "Options: Please enter at least"),
        ({"kind": "multiple"}, "at least one option"),
        ({"kind": "ranking", "options": ["a", "a"]}, "appears twice"),
        ({"kind": "matrix", **AB}, "Rows: A matrix needs"),
        ({**RATED, "rows": [RATED["rows"][0]] * 2}, "the same name"),
        ({"kind": "number", **AB}, "have this field: single"),
        ({"kind": "number", "min": 3, "max": 1}, "minimum is larger"),
        ({"kind": "number", "min": "many"}, "in digits"),
        ({"kind": "multiple", **AB, "max": 3}, "how many options"),
        ({"kind": "date", "max": 3}, "2000-12-31"),
        ({"kind": "slider", "min": 3}, "a minimum and a maximum"),
        ({"kind": "text", "name": "My name"}, "lower-case"),
        ({"kind": "text", "name": ""}, "lower-case"),
        ({"kind": "text", "show_if": "f()"}, "cannot call"),
        ({"kind": "text", "show_if": "q == 'x'"}, "depend on its own answer"),
        ({"kind": "text", "message": "No."}, "never shown"),
        ({"kind": "single", **AB, "ends_if": "q in ['a', 'b']"}, "Every answer would end"),
    ],
)
def test_a_fault_names_question_and_field(data, reason):
    assert reason in problems_of({"name": "q", "text": "?", **data})


def test_questions_of_a_page_fit_together():
    first = {"kind": "single", "name": "owns", "text": "?", **AB}
    second = {"kind": "number", "name": "pay", "text": "?", "show_if": "owns == 'a'"}
    assert problems_of(first, second) == ""
    assert "1, Show if: “owns”" in problems_of(second, first)
    assert "2, Show if: “owns”" in problems_of(first, second, order="random")
    assert "column name “owns”" in problems_of(first, first)
    assert "column name “q_tea”" in problems_of({"name": "q", "text": "?", **RATED}, {**first, "name": "q_tea"})
    assert "Only answers before the game" in problems_of({**first, "ends_if": "owns == 'a'"}, may_end=False)


def test_hidden_questions_are_neither_required_nor_answered():
    page = questions_of(
        [
            {"kind": "single", "name": "owns", "text": "?", **AB},
            {"kind": "number", "name": "pay", "text": "?", "show_if": "owns == 'a' and age > 17"},
        ]
    )
    assert read_answers(page, {"owns": "b", "pay": "3"}, {"age": 18}) == ({"owns": "b"}, {})
    assert read_answers(page, {"owns": "a", "pay": "3"}, {"age": 17}) == ({"owns": "a"}, {})
    assert read_answers(page, {"owns": "a", "pay": "3"}, {"age": 18}) == ({"owns": "a", "pay": 3}, {})
    assert list(read_answers(page, {"owns": "a"}, {"age": 18})[1]) == ["pay"]


def test_own_validation_sees_earlier_answers_and_says_its_own_message():
    hours = question(kind="number", valid_if="q <= total", message="At most the total.", required=False)
    assert hours.read("3", {"total": 3}) == 3
    assert hours.read("", {"total": 3}) is None
    with pytest.raises(BadAnswer, match="At most the total"):
        hours.read("4", {"total": 3})


def test_orders_are_drawn_once_per_participant():
    ranked = question(kind="ranking", options=list("abcdef"), random_options=True)
    orders = {ranked.shown_to(seed).options for seed in range(20)}
    assert len(orders) > 10 and ranked.shown_to(3) == ranked.shown_to(3)
    assert all(sorted(order) == list("abcdef") for order in orders)
    page = [question(kind="text").model_copy(update={"name": name}) for name in "abcd"]
    assert in_order(page, "random", "7") == in_order(page, "random", "7") != page == in_order(page, "fixed", "7")
