"""Every game's short forms: the fewest numbers that determine a move; they expand to legal moves only."""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games import examples, registry
from games.bargaining.rules import Bargaining
from games.errors import Refused
from games.examples import Case
from games.interface import Form
from games.play import Play, check, configure, expand, plain_move, start

CASES = [case for key in registry.keys() for case in examples.cases(key)]


def short_forms(case: Case) -> list[tuple[Play, str, Form]]:
    """Yield every moment at which a role in the case's match may fill in a short form."""
    return [
        (play, role, form)
        for play in case.walk().plays()
        for role in play.waiting_for()
        for form in play.forms(role)
        if form.short is not None
    ]


def valid_short_forms(form: Form, rng: Random, most: int = 20) -> list[dict]:
    """Return filled-in short forms with values that the short form accepts."""
    properties = form.short.model_json_schema()["properties"]
    values = {name: [*_numbers(schema, rng), 'Words, and "more" words', None] for name, schema in properties.items()}
    legal, trials = [], 40 * most
    while len(legal) < most and (trials := trials - 1):
        filled = {name: rng.choice(candidates) for name, candidates in values.items()}
        with suppress(Refused):
            expand(form, filled)
            legal.append(filled)
    return legal


def _numbers(schema: dict, rng: Random) -> list[float]:
    low, high = schema.get("minimum", 0), schema.get("maximum", 1e6)
    inside = [rng.uniform(low, high) for _ in range(10)]
    return [low, high, *inside[:5], *(round(number, 2) for number in inside[5:])]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_legal_short_form_expands_to_a_legal_move(case):
    for play, role, form in short_forms(case):
        filled = valid_short_forms(form, Random(case.seed))
        assert filled, f"no filling of {form.name} was found"
        for short in filled:
            full, _move = check(play, role, expand(form, short))
            assert full is form


@pytest.mark.parametrize("case", CASES, ids=str)
def test_short_form_has_fewer_fields_and_an_expansion(case):
    for play in case.walk().plays():
        for role in play.waiting_for():
            for form in play.forms(role):
                assert (form.short is None) == (form.expand is None)
                if form.short is not None:
                    assert len(form.short.model_fields) < len(form.model.model_fields)
                    json.dumps(form.short.model_json_schema())


def opening(**config):
    play, _events = start(configure(Bargaining, config), 1)
    return play, play.forms("alice")[0]


@pytest.mark.parametrize(
    ("money", "own_part", "other_part"),
    [(10_000, 6000, 4000), (10_000, 1024.88, 8975.12), (100, 0, 100), (0.5, 0.2, 0.3)],
)
def test_other_part_of_an_offer_is_the_exact_rest(money, own_part, other_part):
    _play, form = opening(money=money)
    assert expand(form, {"your_gain": own_part}) == {"alice_gain": own_part, "bob_gain": other_part}


def test_short_form_of_bob_sets_bobs_part():
    play, _form = opening()
    form = play.game.offer_forms["bob"]
    assert expand(form, {"your_gain": 1}) == {"alice_gain": 9999, "bob_gain": 1}


@given(st.floats(min_value=1e-6, max_value=1e12), st.floats(min_value=0, max_value=1))
def test_any_part_of_any_amount_is_a_legal_offer(money, share):
    play, form = opening(money=money)
    _form, move = check(play, "alice", expand(form, {"your_gain": min(money * share, money)}))
    assert abs(move.alice_gain + move.bob_gain - money) <= 1e-12 * money


def test_short_form_keeps_the_message_unchanged():
    play, form = opening()
    message = "6,000 for me — “fair” \\ \n is fair"
    _form, move = check(play, "alice", expand(form, {"your_gain": 6000, "message": message}))
    assert plain_move(move) == {"alice_gain": 6000, "bob_gain": 4000, "message": message}


@pytest.mark.parametrize(
    ("short", "reason"),
    [
        ({"your_gain": 10_000.01}, r"\(your_gain\) .*at most 10,000"),
        ({"your_gain": -1}, r"\(your_gain\) .*at least 0"),
        ({"your_gain": True}, r"\(your_gain\) .*a number"),
        ({}, r"\(your_gain\) is required"),
        ({"your_gain": 1, "bob_gain": 9999}, "“bob_gain” is unknown"),
    ],
)
def test_invalid_short_form_is_refused_with_its_reason(short, reason):
    _play, form = opening()
    with pytest.raises(Refused, match=reason):
        expand(form, short)


def test_short_form_has_no_message_if_messages_are_off():
    _play, form = opening(messages_allowed=False)
    assert list(form.short.model_json_schema()["properties"]) == ["your_gain"]
    with pytest.raises(Refused, match="without messages"):
        expand(form, {"your_gain": 1, "message": "hello"})
