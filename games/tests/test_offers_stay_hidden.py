"""Bargaining and negotiation: the other's value and the cap change nothing that a player can be shown."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import examples
from games import registry
from games.contract import seen
from games.errors import Refused
from games.interface import Role
from games.play import Play, configure, learnt, script_move, start, submit

SEEDS = st.integers(0, 10_000)
ROLES = st.sampled_from(["alice", "bob"])
CAPS = st.integers(1, 200)
VALUES = {
    "bargaining": ({"alice": "delta_alice", "bob": "delta_bob"}, [0.5, 0.8, 0.9, 0.95, 1.0]),
    "negotiation": ({"alice": "seller_factor", "bob": "buyer_factor"}, [0.8, 1.0, 1.2, 1.5, 3.7]),
}
"""For each game: the key of each role's own value, and values to try."""
ILLEGAL: tuple[dict[str, Any], ...] = (
    {"alice_gain": 1, "bob_gain": 1, "message": "m"},
    {"alice_gain": -1, "bob_gain": 1},
    {"price": -1, "message": "m"},
    {"price": "cheap"},
    {"decision": "maybe"},
    {"cap": 1},
    {},
)
"""Moves that are refused with a reason shown to the player."""

both_games = pytest.mark.parametrize("key", VALUES)


def new_play(key: str, config: dict[str, Any], seed: int) -> Play:
    return start(configure(registry.get(key), config), seed)[0]


def other_key(key: str, role: Role) -> str:
    return VALUES[key][0]["bob" if role == "alice" else "alice"]


def shown(play: Play, role: Role, earlier: Play | None, last: tuple[Role, dict[str, Any]] | None) -> str:
    """Return everything that `role` can be shown at this moment, its notices and refusals, and its scripts' moves."""
    notices = learnt(earlier, *last, play, role) if earlier and last else ()
    is_asked = role in play.waiting_for()
    scripts = [script_move(play, role, name) for name in sorted(play.game.scripts)] if is_asked else []
    return repr([seen(play, role), notices, scripts, [refusal(play, role, move) for move in ILLEGAL]])


def refusal(play: Play, role: Role, move: dict[str, Any]) -> str:
    with pytest.raises(Refused) as refused:
        submit(play, role, move)
    return f"{refused.value.field}: {refused.value}"


def assert_alike(key: str, role: Role, seed: int, config: dict[str, Any], *variants: dict[str, Any]) -> None:
    """Play one random match under each variant of `config`; `role` can never tell which variant it is in."""
    plays = [new_play(key, {**config, **variant}, seed) for variant in variants]
    earlier: list[Play | None] = [None] * len(plays)
    last, rng = None, Random(seed)
    while True:
        texts = [shown(play, role, before, last) for play, before in zip(plays, earlier, strict=True)]
        assert texts == texts[:1] * len(texts)
        if any(play.over for play in plays) or plays[0].step > 14:
            return
        (mover,) = plays[0].waiting_for()
        last = mover, dict(script_move(plays[0], mover, rng.choice(["random", "haggler", "equilibrium"])))
        earlier = list(plays)
        plays = [submit(play, *last)[0] for play in plays]
        if len({play.over for play in plays}) > 1:
            return  # one of them has reached its last round: the end of the game is not a secret


@both_games
@settings(max_examples=examples(60))
@given(seed=SEEDS, role=ROLES, rounds=st.none() | st.integers(1, 6), messages_allowed=st.booleans(), data=st.data())
def test_other_value_is_hidden_under_incomplete_information(key, seed, role, rounds, messages_allowed, data):
    keys, values = VALUES[key]
    own, one, other = (data.draw(st.sampled_from(values)) for _ in range(3))
    config = {
        "complete_information": False,
        keys[role]: own,
        "rounds": rounds,
        "messages_allowed": messages_allowed,
    }
    if key == "negotiation":
        config["outside_option"] = data.draw(st.booleans())
    assert_alike(key, role, seed, config, {other_key(key, role): one}, {other_key(key, role): other})


@pytest.mark.slow
@both_games
@settings(max_examples=examples(60))
@given(seed=SEEDS, role=ROLES, cap=CAPS, other_cap=CAPS, complete_information=st.booleans())
def test_cap_is_hidden_if_rounds_are_unknown(key, seed, role, cap, other_cap, complete_information):
    keys, _values = VALUES[key]
    config = {
        "rounds": None,
        "complete_information": complete_information,
        keys["bob"]: 0.8 if key == "bargaining" else 1.2,
    }
    assert_alike(key, role, seed, config, {"cap": cap}, {"cap": other_cap})


@both_games
@settings(max_examples=examples(20))
@given(seed=SEEDS, role=ROLES, cap=CAPS)
def test_cap_is_hidden_if_rounds_are_known(key, seed, role, cap):
    assert_alike(key, role, seed, {"rounds": 4}, {"cap": 99}, {"cap": cap})


@both_games
@pytest.mark.parametrize("role", ["alice", "bob"])
def test_secret_keys_by_role(key, role):
    assert new_play(key, {"complete_information": False}, 1).game.secrets(role) == {"cap", other_key(key, role)}
    assert new_play(key, {}, 1).game.secrets(role) == {"cap"}


@both_games
@pytest.mark.parametrize("role", ["alice", "bob"])
def test_comparison_can_fail(key, role):
    """Under complete information the other's value is shown."""
    one, other = VALUES[key][1][1], VALUES[key][1][2]
    with pytest.raises(AssertionError):
        assert_alike(key, role, 1, {}, {other_key(key, role): one}, {other_key(key, role): other})
