"""A practice period has its own instance, does not count, is labelled as practice, and is marked in exports."""

from __future__ import annotations

import pytest

from games import registry
from games.errors import BadConfig, Refused
from games.play import configure, replay_events, restore, script_move, snapshot, start, submit, use_tool

CONFIGS = {
    "procurement": {"level": "small", "periods": 2},
    "scheduling": {"level": "basic", "periods": 2},
    "pricing": {"periods": 2, "scored_periods": 2},
    "task_allocation": {"periods": 2, "goal": "efficiency"},
    "duopoly": {"periods": 2, "rival": False},
}
GAMES = pytest.mark.parametrize("key", CONFIGS)


def play_of(key: str, **changes):
    game = configure(registry.get(key), {**CONFIGS[key], **changes})
    return start(game, 7), game.roles()[0]


def status(play, role) -> str:
    return next(block.body for block in play.view(role) if block.key == "status")


@GAMES
def test_practice_does_not_affect_the_result(key):
    """The same submissions give the same figures with and without a practice period."""
    results = {}
    for practice in (False, True):
        (play, _events), role = play_of(key, practice=practice)
        if practice:
            assert "does not count" in status(play, role)
            play, _events = submit(play, role, {"note": "only for practice"})
            play, _events = submit(play, role, script_move(play, role, "random"))
            assert "does not count. From now on, every period counts" in status(play, role)
            assert "only for practice" not in str(play.view(role))
        while not play.over:
            play, _events = submit(play, role, play.game.default(play.state, role))
        assert "practice" not in status(play, role)
        results[practice] = (play.metrics(), play.payoffs(), play.game.records(play.state))
    assert results[True] == results[False]


@GAMES
def test_practice_has_its_own_instance_and_shows_its_outcome(key):
    (play, _events), role = play_of(key, practice=True)
    if key != "duopoly":
        assert play.game.practice_state(play.state).instance != play.state.instance
    play, _events = submit(play, role, script_move(play, role, "random"))
    assert any(block.key == "outcome" for block in play.view(role))
    assert use_tool(play, role, play.game.get_number, {}) == {"number": 0}


@GAMES
def test_practice_moves_are_marked(key):
    (play, _events), role = play_of(key, practice=True)
    moves = []
    for move in ({"note": "a"}, None, {"note": "b"}, None):
        move_made = script_move(play, role, "random") if move is None else move
        play, _events = submit(play, role, move_made)
        moves.append((role, move_made))
    assert list(play.game.stages(moves)) == [(0, "practice"), (0, "practice"), (1, "note"), (1, "submission")]


@GAMES
def test_malformed_practice_submission_does_not_count(key):
    (play, events), role = play_of(key, practice=True)
    with pytest.raises(Refused):
        submit(play, role, {next(iter(script_move(play, role, "random"))): {"Nobody": 1}})
    log = list(events)
    while not play.over:
        play, new_events = submit(play, role, script_move(play, role, "random"))
        play, log = restore(play.game, snapshot(play)), [*log, *new_events]
    assert replay_events(play.game, log).metrics() == play.metrics()


def test_practice_with_a_rival_is_refused():
    with pytest.raises(BadConfig, match="rival"):
        configure(registry.get("duopoly"), {"practice": True})
