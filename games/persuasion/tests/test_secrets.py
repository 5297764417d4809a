"""What the contract cannot compare: fixed qualities look like drawn ones, and myopic buyers see no earlier message."""

from __future__ import annotations

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
