"""Hidden information does not change a single byte of a player's texts, notices, forms and questions."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games.play
from conftest import examples
from games.contract import seen
from games.persuasion.rules import Persuasion
from games.play import Play

SETTINGS = {
    "message_type": st.sampled_from(["text", "binary"]),
    "buyer_type": st.sampled_from(["long_living", "myopic"]),
    "reveal_quality": st.sampled_from(["always", "if_bought"]),
}
QUALITIES = st.lists(st.sampled_from(["high", "low"]), min_size=6, max_size=6)


def new_play(seed: int, **config: Any) -> Play:
    return games.play.start(games.play.configure(Persuasion, {"rounds": 6, **config}), seed)[0]


def everything(play: Play, role: str) -> str:
    """Return everything that `role` can be shown at this moment, and its scripts' moves."""
    scripts = (
        [games.play.script_move(play, role, name) for name in sorted(play.game.scripts)]
        if role in play.waiting_for()
        else []
    )
    return seen(play, role) + repr(scripts)


def buyer_notices(before: Play, move: dict[str, Any], after: Play) -> str:
    """Return what the buyer is told about its own decision."""
    return repr(games.play.learnt(before, "bob", move, after, "bob"))


@settings(max_examples=examples(80))
@given(seed=st.integers(0, 10_000), first_qualities=QUALITIES, second_qualities=QUALITIES, **SETTINGS)
def test_quality_is_hidden_from_the_buyer_until_revealed(seed, first_qualities, second_qualities, **config):
    """Two sequences of qualities look alike until the first revealed round in which they differ."""
    plays = [new_play(seed, qualities=qualities, **config) for qualities in (first_qualities, second_qualities)]
    rng, is_myopic = Random(seed), config["buyer_type"] == "myopic"
    for number in range(6):
        pitch = games.play.script_move(plays[0], "alice", rng.choice(["random", "never", "always_yes"]))
        assert everything(plays[0], "bob") == everything(plays[1], "bob")
        plays = [games.play.submit(play, "alice", pitch)[0] for play in plays]
        assert everything(plays[0], "bob") == everything(plays[1], "bob")
        decision = rng.choice(["yes", "no"])
        earlier_plays, plays = plays, [games.play.submit(play, "bob", {"decision": decision})[0] for play in plays]
        revealed = decision == "yes" or (config["reveal_quality"] == "always" and not is_myopic)
        if revealed and first_qualities[number] != second_qualities[number]:
            return
        notices = [buyer_notices(b, {"decision": decision}, a) for b, a in zip(earlier_plays, plays, strict=True)]
        assert notices[0] == notices[1]
    # Myopic buyers, and no purchase: no quality has been revealed.
    if not plays[0].over:
        assert everything(plays[0], "bob") == everything(plays[1], "bob")


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10_000),
    same_rounds=st.integers(1, 5),
    first_qualities=QUALITIES,
    second_qualities=QUALITIES,
    **SETTINGS,
)
def test_later_qualities_are_hidden_from_the_seller(seed, same_rounds, first_qualities, second_qualities, **config):
    plays = [
        new_play(seed, qualities=qualities, **config)
        for qualities in (first_qualities, first_qualities[:same_rounds] + second_qualities[same_rounds:])
    ]
    for _round in range(same_rounds):
        assert everything(plays[0], "alice") == everything(plays[1], "alice")
        for role in ("alice", "bob"):
            move = games.play.script_move(plays[0], role, "random")
            plays = [games.play.submit(play, role, move)[0] for play in plays]


@pytest.mark.slow
@settings(max_examples=examples(30))
@given(seed=st.integers(0, 10_000), **SETTINGS)
def test_fixed_and_drawn_qualities_look_the_same(seed, **config):
    drawn = new_play(seed, **config)
    history, moves = [drawn], []
    while not drawn.over:
        (role,) = drawn.waiting_for()
        moves.append((role, games.play.script_move(drawn, role, "random")))
        drawn = games.play.submit(drawn, *moves[-1])[0]
        history.append(drawn)
    fixed = new_play(seed, qualities=[past_round.quality for past_round in drawn.state.played], **config)
    for drawn_play, move in zip(history, [*moves, None], strict=True):
        for role in ("alice", "bob"):
            assert seen(fixed, role) == seen(drawn_play, role)
        if move:
            fixed = games.play.submit(fixed, *move)[0]


@settings(max_examples=examples(40))
@given(
    seed=st.integers(0, 10_000),
    messages=st.lists(st.text(min_size=3, max_size=20), min_size=2, max_size=2, unique=True),
)
def test_earlier_messages_are_hidden_from_the_myopic_buyer(seed, messages):
    def after(message: str) -> Play:
        play = new_play(seed, buyer_type="myopic")
        for role, move in [
            ("alice", {"message": f"x{message}"}),
            ("bob", {"decision": "no"}),
            ("alice", {"message": "Now"}),
        ]:
            play = games.play.submit(play, role, move)[0]
        return play

    messages = [text.replace("\x00", "") for text in messages]
    assert everything(after(messages[0]), "bob") == everything(after(messages[1]), "bob")


def test_secret_keys_by_role():
    assert new_play(1).game.secrets("alice") == {"cap"}
    hidden = new_play(1, complete_information=False).game
    assert hidden.secrets("alice") == {"cap", "high_value", "low_value"}
    assert hidden.secrets("bob") == {"cap"}


@pytest.mark.parametrize("key", ["high_value", "low_value"])
def test_comparison_can_fail(key):
    """Under complete information the seller sees the values."""
    value = {"high_value": 3, "low_value": 0.5}[key]
    assert everything(new_play(1), "alice") != everything(new_play(1, **{key: value}), "alice")
