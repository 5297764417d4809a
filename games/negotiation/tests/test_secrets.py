"""Hidden information does not change a single byte of a player's texts, notices, forms and questions."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games.play
from games.errors import Refused
from games.interface import Role
from games.negotiation.rules import Negotiation

FACTORS = st.sampled_from([0.8, 1.0, 1.2, 1.5, 3.7])
ROLES = st.sampled_from(["alice", "bob"])
ILLEGAL = (
    {"price": -1, "message": "m"},
    {"price": "cheap"},
    {"decision": "maybe"},
    {"cap": 1},
    {},
)
"""Moves that are refused with a reason shown to the player."""


def new_play(config: dict[str, Any], seed: int) -> games.play.Play:
    return games.play.start(games.play.configure(Negotiation, config), seed)[0]


def everything(
    play: games.play.Play, role: Role, earlier: games.play.Play | None, last: tuple[Role, dict] | None
) -> str:
    """Return everything that `role` can be shown at this moment, its latest notices, and its scripts' moves."""
    game = play.game
    notices = games.play.learnt(earlier, *last, play, role) if earlier and last else ()
    forms = [(form.name, form.title, form.help, form.model.model_json_schema()) for form in play.forms(role)]
    scripts = (
        [games.play.script_move(play, role, name) for name in sorted(game.scripts)]
        if role in play.waiting_for()
        else []
    )
    questions = [forms, scripts, [refusal(play, role, move) for move in ILLEGAL]]
    texts = [play.view(role), notices, dict(game.text_variables(role)), game.instructions(role), game.quiz(role)]
    return repr([texts, questions])


def refusal(play: games.play.Play, role: Role, move: dict) -> str:
    with pytest.raises(Refused) as refused:
        games.play.submit(play, role, move)
    return f"{refused.value.field}: {refused.value}"


def assert_alike(role: Role, seed: int, config: dict[str, Any], *variants: dict[str, Any]) -> None:
    """Play one random match under each variant of `config`; `role` can never tell which variant it is in."""
    plays = [new_play({**config, **variant}, seed) for variant in variants]
    earlier_plays: list[games.play.Play | None] = [None] * len(plays)
    last, rng = None, Random(seed)
    while True:
        texts = [
            everything(play, role, earlier_play, last) for play, earlier_play in zip(plays, earlier_plays, strict=True)
        ]
        assert texts == texts[:1] * len(texts)
        if any(play.over for play in plays) or plays[0].step > 14:
            return
        (mover,) = plays[0].waiting_for()
        last = mover, dict(games.play.script_move(plays[0], mover, rng.choice(["random", "haggler", "equilibrium"])))
        earlier_plays = list(plays)
        plays = [games.play.submit(play, *last)[0] for play in plays]
        if len({play.over for play in plays}) > 1:
            return  # one of them has reached its last round: the end of the game is not a secret


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    role=ROLES,
    own_factor=FACTORS,
    other_factor=FACTORS,
    changed_factor=FACTORS,
    rounds=st.none() | st.integers(1, 6),
    messages_allowed=st.booleans(),
    outside_option=st.booleans(),
)
def test_other_value_is_hidden_under_incomplete_information(
    seed, role, own_factor, other_factor, changed_factor, rounds, messages_allowed, outside_option
):
    own_key, other_key = ("seller_factor", "buyer_factor") if role == "alice" else ("buyer_factor", "seller_factor")
    config = {
        "complete_information": False,
        own_key: own_factor,
        "rounds": rounds,
        "messages_allowed": messages_allowed,
        "outside_option": outside_option,
    }
    assert_alike(role, seed, config, {other_key: other_factor}, {other_key: changed_factor})


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    role=ROLES,
    cap=st.integers(1, 200),
    other_cap=st.integers(1, 200),
    complete_information=st.booleans(),
)
def test_cap_is_hidden_if_rounds_are_unknown(seed, role, cap, other_cap, complete_information):
    config = {"rounds": None, "complete_information": complete_information, "buyer_factor": 1.2}
    assert_alike(role, seed, config, {"cap": cap}, {"cap": other_cap})


@given(seed=st.integers(0, 10_000), role=ROLES, cap=st.integers(1, 200))
@settings(deadline=None, max_examples=20)
def test_cap_is_hidden_if_rounds_are_known(seed, role, cap):
    assert_alike(role, seed, {"rounds": 4}, {"cap": 99}, {"cap": cap})


def test_secret_keys_by_role():
    game = new_play({"complete_information": False}, 1).game
    assert game.secrets("alice") == {"cap", "buyer_factor"}
    assert game.secrets("bob") == {"cap", "seller_factor"}
    assert new_play({}, 1).game.secrets("bob") == {"cap"}


@pytest.mark.parametrize("role", ["alice", "bob"])
def test_comparison_can_fail(role):
    """Under complete information the other's value is shown."""
    other_key = "buyer_factor" if role == "alice" else "seller_factor"
    with pytest.raises(AssertionError):
        assert_alike(role, 1, {}, {other_key: 0.8}, {other_key: 1.2})
