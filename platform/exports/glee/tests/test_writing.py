"""Written games read back the same: configuration, players, moves, payoffs and metrics, to the last digit."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import formulas
from conftest import examples
from exports.glee import cells, reading, writing
from exports.glee.families import ADAPTERS
from exports.glee.published import PublishedGame, replay_game
from exports.glee.tests.building import FAMILIES, needs_persuasion, read
from games import registry
from games.play import configure, script_move, start, submit

MESSAGES = st.one_of(
    st.text(max_size=40).filter(lambda text: "\x00" not in text),
    st.sampled_from(
        [
            "None", "nan", "'", "'None", "=1+1", "-5", "@x", "\t=", "\n=", "a;-1", "a;''-1", "a\n '=", "a,b",
            'say "x"', "a\r\nb", "\r", " ", "ü",
        ]
    ),
)  # fmt: skip
FACTORS = st.floats(0.01, 1)
MONEY = st.floats(1, 1e9)
COMMON = {"rounds": st.sampled_from([None, 1, 2, 12, 20, 21, 40]), "cap": st.sampled_from([1, 7, 20, 21, 25, 99])}
SETTINGS = {"complete_information": st.booleans(), "messages_allowed": st.booleans()}

CONFIGS = {
    "bargaining": st.fixed_dictionaries(
        {"money": MONEY, "delta_alice": FACTORS, "delta_bob": FACTORS, **COMMON, **SETTINGS}
    ),
    "negotiation": st.fixed_dictionaries(
        {
            "scale": MONEY, "seller_factor": st.floats(0.1, 3), "buyer_factor": st.floats(0.1, 3),
            "outside_option": st.booleans(), **COMMON, **SETTINGS,
        }
    ),
    "persuasion": st.fixed_dictionaries(
        {
            "price": MONEY,
            "prior": st.floats(0, 1),
            "high_value": st.floats(1.01, 10),
            "low_value": st.floats(0, 0.99),
            "complete_information": st.booleans(),
            "message_type": st.sampled_from(["text", "binary"]),
            "buyer_type": st.sampled_from(["long_living", "myopic"]),
            "reveal_quality": st.sampled_from(["always", "if_bought"]),
            **COMMON,
        }
    ),
}  # fmt: skip
NAMES = st.sampled_from(["human", "gpt-4o", "gemini-1.5-flash", "vertex_ai/x:y", "script:fair", "otree", "otree_LLM"])


def played(family, config, seed, script, messages):
    """Return the log of a random game in which the players say `messages` in turn if they may."""
    game = configure(registry.get(family), config)
    play, events = start(game, seed)
    log = list(events)
    while not play.over:
        (role,) = play.waiting_for()
        move = dict(script_move(play, role, script))
        message = messages[play.last % len(messages)] if messages else ""
        speaks = "message" in move or ("decision" not in move and config.get("messages_allowed"))
        if speaks and message.strip():
            move["message"] = message
        play, events = submit(play, role, move)
        log += events
    return game, play, log


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
@settings(max_examples=examples(60), deadline=None)
def test_writing_and_reading_give_the_same_game(family, data):
    config = data.draw(CONFIGS[family])
    script = data.draw(st.sampled_from(sorted(registry.get(family).scripts)))
    players = {"alice": data.draw(NAMES), "bob": data.draw(NAMES)}
    game, play, log = played(family, config, data.draw(st.integers(0, 99)), script, data.draw(st.lists(MESSAGES)))
    integer = game.config.model_dump(mode="json")

    game_files = writing.game_files(writing.from_log("G1", family, integer, players, log))
    reread = reading.read("G1", game_files.files["config.json"], game_files.files["game.csv"])
    replayed = replay_game(reread)

    drawn = [event.data["value"] for event in log if event.kind == "draw" and event.data["name"] == "quality"]
    assert replayed.config == integer | ({"qualities": drawn} if family == "persuasion" else {})
    assert reread.players == players
    assert reread.moves == tuple((event.data["role"], event.data["move"]) for event in log if event.kind == "move")
    assert replayed.payoffs == play.payoffs()
    assert replayed.metrics == play.metrics()
    assert replayed.unverified is None
    assert reread.names == ()


@given(st.lists(MESSAGES, min_size=1, max_size=5))
@settings(deadline=None)
def test_no_cell_of_a_table_is_a_formula(messages):
    _game, _play, log = played("bargaining", {"rounds": 12, "messages_allowed": True}, 1, "random", messages)
    game = writing.from_log("G1", "bargaining", {}, {"alice": "human", "bob": "human"}, log)
    table = csv.DictReader(io.StringIO(writing.game_files(game).files["game.csv"], newline=""))
    assert all(formulas.defused(row["message"]) == row["message"] for row in table)


def test_a_plain_game_needs_no_extra_keys():
    game = read("bargaining")
    published = json.loads(writing.game_files(game).files["config.json"])
    assert set(published) == {
        "player_1_type", "player_2_type", "player_1_args", "player_2_args", "game_type", "game_args",
    }  # fmt: skip
    assert published["game_args"] == {
        "money_to_divide": 100, "max_rounds": 12, "complete_information": True, "messages_allowed": True,
        "delta_1": 0.9, "delta_2": 0.8,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("rounds", "cap", "max_rounds", "lost_keys"),
    [
        (None, 99, 99, None), (None, 40, 40, None), (None, 12, 99, {"cap": 12}), (12, 99, 12, None),
        (12, 7, 12, {"cap": 7}), (30, 99, 30, {"rounds": 30, "cap": 99}),
    ],
)  # fmt: skip
def test_horizons_survive_writing_and_reading(rounds, cap, max_rounds, lost_keys):
    game = read("bargaining")
    config = {**game.config, "rounds": rounds, "cap": cap}
    args = json.loads(
        writing.game_files(PublishedGame("G1", "bargaining", config, game.players, game.moves)).files["config.json"]
    )["game_args"]
    assert args["max_rounds"] == max_rounds
    assert args.get("parley", {}).get("config") == lost_keys


@needs_persuasion
@pytest.mark.parametrize(
    ("rounds", "qualities", "drawn_count"),
    [(2, ["high", "low", "low", "high"], 4), (None, ["high"], 3), (None, ["low"] * 5, 5), (2, None, 2)],
)
def test_drawn_and_remaining_qualities_are_kept(rounds, qualities, drawn_count):
    config = {"rounds": rounds, "cap": 3, "qualities": qualities}
    _game, play, log = played("persuasion", config, 1, "random", [])
    game_files = writing.game_files(writing.from_log("G1", "persuasion", config, {"alice": "human", "bob": "x"}, log))
    replayed = replay_game(reading.read("G1", game_files.files["config.json"], game_files.files["game.csv"]))
    assert len(replayed.config["qualities"]) == drawn_count
    assert replayed.config["qualities"][: len(qualities or ())] == (qualities or [])
    assert replayed.metrics == play.metrics()
    assert (replayed.config["rounds"], replayed.config["cap"]) == (rounds, 3)


def test_persuasion_without_drawn_qualities_is_refused():
    game = read("persuasion")
    with pytest.raises(ValueError, match="fewer than there are rounds"):
        ADAPTERS["persuasion"].write({**game.config, "qualities": None}, game.moves)


@pytest.mark.parametrize("family", ["bargaining", "negotiation"])
def test_games_that_break_our_rules_are_written_unchanged(family):
    offer = {"bargaining": {"alice_gain": 70.0, "bob_gain": 50.0}, "negotiation": {"price": 90.0}}[family]
    moves = (("alice", {**offer, "message": "long " * 600}), ("bob", {"decision": "accept"}))
    game = PublishedGame("G1", family, {"messages_allowed": False}, {"alice": "human", "bob": "gpt-4o"}, moves)
    files = writing.game_files(game).files
    reread = reading.read("G1", files["config.json"], files["game.csv"])
    assert reread.moves == moves
    assert replay_game(reread).unverified is not None


def test_a_written_game_is_found_in_its_folder(tmp_path):
    game = PublishedGame(
        "ab12CD", "bargaining", *(getattr(read("bargaining"), key) for key in ("config", "players", "moves"))
    )
    folder = writing.game_files(game).save(tmp_path)
    assert folder.relative_to(tmp_path).as_posix() == "bargaining/A/B/1/ab12CD"
    (outcome,) = reading.read_tree(tmp_path)
    assert outcome.name == "ab12CD"


@pytest.mark.parametrize("game_id", ["", "../x", "a/b", ".hidden", "a b"])
def test_an_id_that_cannot_name_a_folder_is_refused(game_id):
    game = read("bargaining")
    with pytest.raises(ValueError, match="name of a folder"):
        writing.game_files(PublishedGame(game_id, "bargaining", game.config, game.players, game.moves))


def test_files_marked_only_at_the_beginning_are_read_as_before():
    row = cells.Row(2, {"message": "'=1\n'=2"}, marked=True)
    assert row.words("message") == "=1\n'=2"
    assert replace(row, marked_within=True).words("message") == "=1\n=2"
