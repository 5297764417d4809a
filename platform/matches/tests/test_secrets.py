"""Nothing sent to bob's browser depends on what bob may not know."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import games.play
from conftest import examples
from games import registry
from matches import forms
from matches.screens import render_screen

FACTORS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 1.0])


def everything_seen(play: games.play.Play, role: str) -> str:
    """Return every byte of a role's pages and frames."""
    game = play.game
    return "\n".join(
        [
            render_screen(play, role),
            game.instructions(role),
            json.dumps([form.model.model_json_schema() for form in play.forms(role)], sort_keys=True),
            repr([forms.bind(form) for form in play.forms(role)]),
            repr(game.comprehension(role)),
        ]
    )


def moves_of(seed: int, config: dict) -> list[tuple[str, dict]]:
    """Return a random match of a few rounds as moves."""
    play, _events = games.play.start(games.play.configure(registry.get("bargaining"), config), seed)
    rng = Random(seed)
    moves = []
    while not play.over and len(moves) < 8:
        role = play.waiting_for()[0]
        move = games.play.script_move(play, role, rng.choice(["random", "fair"]))
        moves.append((role, move))
        play, _events = games.play.submit(play, role, move)
    return moves


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10_000), factor=FACTORS, other_factor=FACTORS, role=st.sampled_from(["alice", "bob"]))
def test_others_discount_factor_stays_hidden(seed, factor, other_factor, role):
    hidden_factor = "delta_bob" if role == "alice" else "delta_alice"
    common = {"complete_information": False, "rounds": None}
    moves = moves_of(seed, {**common, hidden_factor: factor})
    assert_same_screens(role, moves, seed, {**common, hidden_factor: factor}, {**common, hidden_factor: other_factor})


@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 10_000), cap=st.integers(5, 200), role=st.sampled_from(["alice", "bob"]))
def test_unknown_horizon_stays_hidden(seed, cap, role):
    moves = moves_of(seed, {"rounds": None})
    assert_same_screens(role, moves, seed, {"rounds": None, "cap": 99}, {"rounds": None, "cap": cap})


def assert_same_screens(role: str, moves: list, seed: int, config: dict, other_config: dict) -> None:
    game = registry.get("bargaining")
    plays = [games.play.start(games.play.configure(game, values), seed)[0] for values in (config, other_config)]
    for move in [None, *moves]:
        if move is not None:
            plays = [games.play.submit(play, *move)[0] for play in plays]
        assert everything_seen(plays[0], role) == everything_seen(plays[1], role)


def test_the_comparison_detects_differences():
    """Under complete information the other's factor is shown, so the comparison detects differences."""
    with pytest.raises(AssertionError):
        assert_same_screens("bob", [], 1, {"delta_alice": 0.8}, {"delta_alice": 0.95})
