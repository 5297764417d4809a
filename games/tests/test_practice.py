"""Practice has numbers and names of its own, does not count, leaves nothing behind, and is marked in exports."""

from __future__ import annotations

import re

import pytest

from games import registry
from games.errors import BadConfig, Refused
from games.periods import opening
from games.play import configure, replay_events, restore, script_move, snapshot, start, submit, use_tool
from games.practice import BEGIN, PRACTICE_PERIODS

CONFIGS = {
    "procurement": {"level": "small", "periods": 2},
    "scheduling": {"level": "basic", "periods": 2},
    "pricing": {"periods": 2, "scored_periods": 2},
    "task_allocation": {"periods": 2, "goal": "efficiency"},
    "duopoly": {"periods": 2, "rival": False},
}
GAMES = pytest.mark.parametrize("key", CONFIGS)
LABEL = re.compile(r"[A-Z][a-z]*_?\d+")


def play_of(key: str, **changes):
    game = configure(registry.get(key), {**CONFIGS[key], **changes})
    return start(game, 7), game.roles()[0]


def texts(play, role) -> dict[str, str]:
    return {block.key: getattr(block, "body", "") for block in play.view(role)}


def practise(play, role, *, begin: bool = True):
    """Return the play after practice; with `begin=False`, before the game begins."""
    while play.forms(role)[0].name != BEGIN.name:
        play, _events = submit(play, role, script_move(play, role, "random"))
    return submit(play, role, {"begin": "now"})[0] if begin else play


@GAMES
def test_practice_does_not_affect_the_result(key):
    """The same submissions give the same figures with and without practice."""
    results = {}
    for practice in (False, True):
        (play, _events), role = play_of(key, practice=practice)
        if practice:
            play = practise(play, role)
        while not play.over:
            play, _events = submit(play, role, play.game.default(play.state, role))
        assert "ractice" not in str(play.view(role))
        results[practice] = (play.metrics(), play.payoffs(), play.game.records(play.state))
    assert results[True] == results[False]


@GAMES
def test_practice_is_labelled_and_leaves_nothing_behind(key):
    """Each practice period says so; the first real page has one sentence more than without practice, and no else."""
    (play, _events), role = play_of(key, practice=True)
    for number in range(1, PRACTICE_PERIODS + 1):
        label = texts(play, role)["practice"]
        assert "does not count" in label and f"{number} of {PRACTICE_PERIODS}" in label
        assert play.game.before_lookups(play.state, role)[0].body == label
        assert "last one" not in str(play.view(role))
        assert f"beginning of period {number - 1}." in opening(play.game, play.state, role)
        play, _events = submit(play, role, {"note": "only for practice"})
        play, _events = submit(play, role, script_move(play, role, "random"))
    assert list(texts(play, role))[:3] == ["practice_over", "status", "outcome"]
    assert play.forms(role) == (BEGIN,)
    assert play.game.warning(play.state, role, BEGIN.model(begin="now")) is None
    assert play.game.usual(play.state, role) == {}
    assert opening(play.game, play.state, role).startswith("Call begin to begin")
    play, _events = submit(play, role, {"begin": "now"})
    (without, _events), _role = play_of(key)
    said = "Practice is over: from now on, every period counts. "
    assert str(play.view(role)).replace(said, "") == str(without.view(role))


@GAMES
def test_practice_has_other_numbers_and_names(key):
    (play, _events), role = play_of(key, practice=True)
    names = set(LABEL.findall(str(play.view(role)) + str(play.forms(role)[0].model.model_json_schema())))
    assert use_tool(play, role, play.game.get_number, {}) == {"number": 0}
    play, _events = submit(play, role, script_move(play, role, "random"))
    assert "outcome" in texts(play, role)
    assert use_tool(play, role, play.game.get_number, {}) == {"number": 1}
    game, practice = play.game.current(play.state)
    if key == "duopoly":
        assert game.references.monopoly_price / game.market.unit_cost != pytest.approx(
            play.game.references.monopoly_price / play.game.market.unit_cost
        )
        return
    play = practise(play, role)
    assert practice.instance != play.state.instance
    assert not names & set(LABEL.findall(str(play.view(role)) + str(play.forms(role)[0].model.model_json_schema())))


@GAMES
def test_practice_moves_are_marked(key):
    (play, _events), role = play_of(key, practice=True)
    moves = []
    for move in ({"note": "a"}, None, None, None, None, {"note": "b"}, None):
        move_made = script_move(play, role, "random") if move is None else move
        play, _events = submit(play, role, move_made)
        moves.append((role, move_made))
    assert moves[4] == (role, {"begin": "now"})
    assert list(play.game.stages(moves)) == [*[(0, "practice")] * 5, (1, "note"), (1, "submission")]
    assert list(play.game.stages(moves[:3])) == [(0, "practice")] * 3


def test_practice_ends_early_when_solved():
    (play, _events), role = play_of("scheduling", practice=True)
    play, _events = submit(play, role, script_move(play, role, "optimum"))
    assert play.forms(role) == (BEGIN,)
    assert play.game.warning(play.state, role, BEGIN.model(begin="now")) is None
    moves = [(role, {"assignment": {}}), (role, {"begin": "now"}), *[(role, {"assignment": {}})] * 2]
    assert [phase for _period, phase in play.game.stages(moves)] == ["practice"] * 2 + ["submission"] * 2


@GAMES
def test_malformed_practice_submission_does_not_count(key):
    (play, events), role = play_of(key, practice=True)
    with pytest.raises(Refused):
        submit(play, role, {next(iter(script_move(play, role, "random"))): {"Nobody": 1}})
    with pytest.raises(Refused):
        submit(play, role, {"begin": "now"})
    log = list(events)
    while not play.over:
        play, new_events = submit(play, role, script_move(play, role, "random"))
        play, log = restore(play.game, snapshot(play)), [*log, *new_events]
    assert replay_events(play.game, log).metrics() == play.metrics()


@GAMES
def test_tools_count_practice_periods_from_0_too(key):
    (play, _events), _role = play_of(key, practice=True)
    assert play.game.current(play.state)[0].first_period == 1
    assert play.with_tools().game.current(play.state)[0].first_period == 0


def test_practice_with_a_rival_is_refused():
    with pytest.raises(BadConfig, match="rival"):
        configure(registry.get("duopoly"), {"practice": True})
