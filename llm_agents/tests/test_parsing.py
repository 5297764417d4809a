"""Finding a move in what a model wrote."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from games.interface import Form, Message, Move, Words
from llm_agents.errors import BadAnswer
from llm_agents.parsing import last_object, read_move


class Offer(Move):
    price: Annotated[float, Field(ge=0)]
    message: Message = None


class Bid(Move):
    bid: int | None


class Answer(Move):
    decision: Literal["accept", "reject"]


class Plan(Move):
    plan: dict[str, Annotated[int, Field(ge=0)]]
    order: list[float] = []
    note: Words = ""


OFFER, BID, ANSWER, PLAN = (Form(model.__name__, model.__name__, model) for model in (Offer, Bid, Answer, Plan))


@pytest.mark.parametrize(
    "text",
    [
        '{"price": 5}',
        '  {"price": 5}\n',
        '```json\n{"price": 5}\n```',
        '```\n{"price": 5}\n```\nI hope that is fair.',
        'My offer is {"price": 5}.',
        'First I thought {"price": 3}, but then {"price": 5}',
        'With {x} in mind: {"price": 5} {and so on',
        '{"price": 5} and not {"price": ',
        '<think>{"price": 1}</think>{\n  "price":\n 5\n}',
        '{"price": {"price": [{"price": 5}',
    ],
)
def test_the_last_complete_object_counts(text):
    assert last_object(text) == {"price": 5}


def test_an_object_inside_another_is_part_of_it():
    assert last_object('{"plan": {"a": 1}}') == {"plan": {"a": 1}}


@pytest.mark.parametrize(
    "text", ["", "I accept.", "{", '{"price": 5', "[1, 2]", "{'price': 5}", "{price: 5}", "{" * 5000]
)
def test_without_an_object_there_is_no_move(text):
    with pytest.raises(BadAnswer, match="no complete JSON object"):
        last_object(text)


def test_depth_without_end_is_no_move():
    with pytest.raises(BadAnswer):
        last_object('{"a":' * 50_000)


@pytest.mark.parametrize(
    ("written", "number"),
    [("5", 5), ("5,000", 5000), ("1,234,567.5", 1234567.5), ("$5,000", 5000), (" 12.50 ", 12.5), ("-3", -3), ("+3", 3)],
)
def test_a_number_written_as_text_is_a_number_where_one_is_wanted(written, number):
    assert read_move(f'{{"price": "{written}"}}', [OFFER]) == {"price": number}


@pytest.mark.parametrize("written", ["5,00", "1,2,3", "five", "5000 dollars", "5.000,00", "NaN", "Infinity", "1e5", ""])
def test_other_text_is_left_for_the_rules_to_refuse(written):
    assert read_move(f'{{"price": "{written}"}}', [OFFER]) == {"price": written}


def test_whole_numbers_stay_whole():
    move = read_move('{"bid": "5,000"}', [BID])
    assert move == {"bid": 5000} and isinstance(move["bid"], int)
    assert read_move('{"bid": null}', [BID]) == {"bid": None}


@pytest.mark.parametrize("words", ["5,000", "1", "$3", "true", '{"price": 1}', "[1]"])
def test_text_fields_are_never_altered(words):
    move = read_move(json.dumps({"price": "1,000", "message": words}), [OFFER])
    assert move == {"price": 1000, "message": words}


@given(st.text(max_size=80))
def test_any_message_arrives_as_it_was_written(words):
    assert read_move("Fine: " + json.dumps({"price": 1, "message": words}), [OFFER])["message"] == words


def test_choices_are_text():
    assert read_move('{"decision": "accept"}', [ANSWER]) == {"decision": "accept"}


def test_numbers_inside_objects_and_lists_are_read_too():
    assert read_move('{"plan": {"deal 1": "1,000"}, "order": ["1", 2], "note": "7"}', [PLAN]) == {
        "plan": {"deal 1": 1000},
        "order": [1, 2],
        "note": "7",
    }


def test_a_dictionary_written_as_text_is_read_where_one_is_wanted():
    assert read_move('{"plan": "{\\"a\\": 2}"}', [PLAN]) == {"plan": {"a": 2}}


def test_the_form_is_the_one_whose_keys_are_named():
    assert read_move('{"bid": "1,000"}', [OFFER, BID]) == {"bid": 1000}
    assert read_move('{"price": "1,000"}', [OFFER, BID]) == {"price": 1000}
