"""Reading published files in all their spellings."""

from __future__ import annotations

import json

import pytest

from exports.glee import reading
from exports.glee.tests.building import BARGAINING, MODELS, PEOPLE, TABLES, config, read
from exports.published import UnreadableRecord

BARGAINED = (
    ("alice", {"alice_gain": 60.0, "bob_gain": 40.0, "message": "Hello"}),
    ("bob", {"decision": "reject"}),
    ("bob", {"alice_gain": 50.0, "bob_gain": 50.0}),
    ("alice", {"decision": "accept"}),
)


# ---- each family -------------------------------------------------------------------------------


def test_bargaining_is_read_with_our_keys_and_moves():
    game = read("bargaining")
    assert game.config == {
        "money": 100, "delta_alice": 0.9, "delta_bob": 0.8, "rounds": 12, "complete_information": True,
        "messages_allowed": True,
    }  # fmt: skip
    assert game.moves == BARGAINED
    assert game.players == {"alice": "gpt-4o", "bob": "xai/grok-2-1212"}


def test_negotiation_is_read_with_factors_and_scale():
    game = read("negotiation")
    assert game.config == {
        "scale": 100, "seller_factor": 0.8, "buyer_factor": 1.2, "rounds": 10, "complete_information": True,
        "messages_allowed": False,
    }  # fmt: skip
    assert game.moves == (
        ("alice", {"price": 110.0}), ("bob", {"decision": "reject"}), ("bob", {"price": 90.0}),
        ("alice", {"decision": "accept"}),
    )  # fmt: skip


@pytest.mark.parametrize("decision", ["SellToJhon", "BuyFromJhon"])
def test_a_deal_with_jhon_counts_as_walking_away(decision):
    game = read("negotiation", f"product_price,player,round,decision\n90,Alice,1,\n,Bob,1,{decision}\n")
    assert game.moves[-1] == ("bob", {"decision": "walk_away"})


def test_persuasion_is_read_with_the_drawn_qualities():
    game = read("persuasion")
    assert game.config == {
        "price": 100, "prior": 0.5, "high_value": 1.25, "low_value": 0, "rounds": 2, "complete_information": True,
        "message_type": "text", "buyer_type": "long_living", "qualities": ["high", "low"],
    }  # fmt: skip
    assert game.moves == (
        ("alice", {"message": "It is good"}), ("bob", {"decision": "yes"}), ("alice", {"message": "It is good too"}),
        ("bob", {"decision": "no"}),
    )  # fmt: skip


def test_binary_recommendations_are_read_from_alices_decision():
    table = (
        "round_quality,product_worth,player,round,decision\n"
        "high-quality,125.0,Nature,1,\n,,Alice,1,yes\n,,the buyer,1,no\n"
        "low-quality,0,Nature,2,\n,,Alice,2,no\n,,the buyer,2,no\n"
    )
    game = read("persuasion", table, {"seller_message_type": "binary", "is_myopic": True})
    assert game.moves[0] == ("alice", {"recommendation": "yes"})
    assert game.config["buyer_type"] == "myopic"
    assert game.names == ()


def test_a_missing_message_gets_a_placeholder_and_a_remark():
    game = read("persuasion", TABLES["persuasion"].replace("It is good too", "None"))
    assert game.moves[2] == ("alice", {"message": "…"})
    assert len(game.remarks) == 1 and game.remarks[0].startswith("Row 6: ")


# ---- both generations, and what varies ---------------------------------------------------------


def test_older_files_keep_the_discount_factors_with_the_players():
    args = {key: value for key, value in BARGAINING.items() if not key.startswith("delta")}
    published = json.loads(config("bargaining")) | {"game_args": args}
    published["player_1_args"]["delta"], published["player_2_args"]["delta"] = 0.95, 1.0
    game = reading.read("G1", json.dumps(published), TABLES["bargaining"])
    assert (game.config["delta_alice"], game.config["delta_bob"]) == (0.95, 1.0)


@pytest.mark.parametrize("family", ["bargaining", "negotiation"])
@pytest.mark.parametrize("most", [25, 99, "99", 25.0])
def test_more_than_twenty_rounds_are_an_unknown_horizon(family, most):
    game = read(family, args={"max_rounds": most})
    assert (game.config["rounds"], game.config["cap"]) == (None, int(most))


def test_twenty_rounds_are_a_known_horizon():
    game = read("bargaining", args={"max_rounds": 20})
    assert game.config["rounds"] == 20
    assert "cap" not in game.config


@pytest.mark.parametrize("empty", ["", "None", "nan"])
def test_empty_cells_may_be_written_differently(empty):
    table = (
        "alice_gain,bob_gain,message,player,round,decision\n"
        f"60,40,Hello,Alice,1,{empty}\n{empty},{empty},{empty},Bob,1,reject\n"
        f"50,50,{empty},Bob,2,{empty}\n{empty},{empty},{empty},Alice,2,accept\n"
    )
    assert read("bargaining", table).moves == BARGAINED


@pytest.mark.parametrize("number", ["40", "40.0", "4e1", " 40 ", '"40"'])
def test_numbers_may_be_written_in_several_ways(number):
    assert read("bargaining", TABLES["bargaining"].replace("60,40,", f"60,{number},")).moves == BARGAINED


def test_columns_may_be_in_any_order_without_messages():
    table = "round,decision,bob_gain,player,alice_gain\n1,,40,Alice,60\n1,accept,,Bob,\n"
    assert read("bargaining", table).moves == (
        ("alice", {"alice_gain": 60.0, "bob_gain": 40.0}),
        ("bob", {"decision": "accept"}),
    )


def test_a_message_is_kept_as_typed():
    message = 'He said "no",\nthen:  ünï, =1+1 '
    quoted = '"' + message.replace('"', '""') + '"'
    assert read("bargaining", TABLES["bargaining"].replace("Hello", quoted)).moves[0][1]["message"] == message


def test_byte_order_mark_and_windows_line_ends_are_read(tmp_path):
    (tmp_path / "config.json").write_bytes(b"\xef\xbb\xbf" + config("bargaining").encode())
    (tmp_path / "game.csv").write_bytes(b"\xef\xbb\xbf" + TABLES["bargaining"].replace("\n", "\r\n").encode())
    assert reading.read_game(tmp_path).moves == BARGAINED


def test_the_family_defaults_to_the_folder_name(tmp_path):
    folder = tmp_path / "negotiation" / "A" / "B" / "C" / "ABCD"
    folder.mkdir(parents=True)
    published = json.loads(config("negotiation"))
    del published["game_type"]
    (folder / "config.json").write_text(json.dumps(published))
    (folder / "game.csv").write_text(TABLES["negotiation"])
    assert reading.read_game(folder).family == "negotiation"


# ---- who played --------------------------------------------------------------------------------


def test_people_and_their_model_opponent_are_recognised():
    assert read("bargaining", players=PEOPLE).players == {"alice": "human", "bob": "gemini-1.5-flash"}


def test_a_person_may_play_either_role():
    swapped = {
        "player_1_type": "otree_LLM",
        "player_1_args": {"model_name": "otree_LLM"},
        "player_2_type": "otree",
        "player_2_args": {"model_name": "otree"},
    }
    assert read("bargaining", players=swapped).players == {"alice": "gemini-1.5-flash", "bob": "human"}


def test_roles_follow_from_the_round_and_names_are_collected():
    named_players = {**PEOPLE, "player_1_args": {"public_name": "Maya", "model_name": "otree"}}
    game = read("bargaining", TABLES["bargaining"].replace("Alice", "Maya L."), players=named_players)
    assert [role for role, _move in game.moves] == ["alice", "bob", "bob", "alice"]
    assert game.names == ("Maya", "Maya L.")
    assert "Maya" not in json.dumps([game.config, game.players, game.moves])


def test_role_names_are_not_peoples_names():
    assert read("persuasion", players=MODELS).names == ()


# ---- what cannot be read -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "old", "new", "reason"),
    [
        ("bargaining", ",reject", ",perhaps", "row 3: decision is “perhaps”.*accept, reject"),
        ("bargaining", "60,40", "sixty,40", "row 2: alice_gain is “sixty”"),
        ("bargaining", "60,40", "60,", "row 2: bob_gain is “”"),
        ("bargaining", "60,40", "60,inf", "row 2: bob_gain is “inf”"),
        ("bargaining", ",decision", ",decided", "has no column decision"),
        ("bargaining", ",,,Bob,1,reject\n", "", "row 3: .*round 2.*round 1 is due"),
        ("bargaining", ",,,Bob,1,reject", "60,40,,Bob,1,reject", "row 3: an answer is due"),
        ("bargaining", "60,40,Hello", ",,Hello", "row 2: an offer is due"),
        ("bargaining", "Hello", "Hello, you", "row 2: it has more cells"),
        ("negotiation", "AcceptOffer", "Agreed", "row 5: decision is “Agreed”"),
        ("persuasion", "low-quality", "poor", "row 5: round_quality is “poor”"),
        ("persuasion", "low-quality,", ",", "row 5: Nature's row is due"),
        ("persuasion", ",,Alice,1,It is good,\n", "", "row 4: .*round 2.*round 1 is due"),
        ("persuasion", "message", "words", "has no column message"),
    ],
)
def test_a_broken_table_is_refused_with_row_and_reason(family, old, new, reason):
    with pytest.raises(UnreadableRecord, match=reason):
        read(family, TABLES[family].replace(old, new, 1))


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"money_to_divide": "much"}, "money_to_divide is “much”"),
        ({"money_to_divide": float("nan")}, "money_to_divide is “nan”"),
        ({"money_to_divide": True}, "money_to_divide is “True”"),
        ({"max_rounds": 2.5}, "max_rounds is 2.5, .* whole number"),
        ({"complete_information": "perhaps"}, "complete_information is “perhaps”"),
        ({"parley": 7}, "parley is not a JSON"),
    ],
)
def test_a_broken_configuration_is_refused_with_the_key(args, reason):
    with pytest.raises(UnreadableRecord, match=reason):
        read("bargaining", args=args)


def test_a_missing_argument_is_named():
    published = json.loads(config("bargaining"))
    del published["game_args"]["max_rounds"]
    with pytest.raises(UnreadableRecord, match="game_args has no max_rounds"):
        reading.read("G1", json.dumps(published), TABLES["bargaining"])


def test_missing_discount_factors_are_named():
    published = json.loads(config("bargaining"))
    del published["game_args"]["delta_2"]
    with pytest.raises(UnreadableRecord, match="delta_2 in game_args nor delta in player_2_args"):
        reading.read("G1", json.dumps(published), TABLES["bargaining"])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "config.json is not JSON"),
        ("[" * 100_000, "config.json is not JSON"),
        ("[]", "config.json is not a"),
        ('{"game_type": "auction"}', "game_type is “auction”.*bargaining, negotiation, persuasion"),
        ('{"game_type": "bargaining"}', "game_args is not a"),
    ],
)
def test_a_file_that_is_not_a_configuration_is_refused(text, reason):
    with pytest.raises(UnreadableRecord, match=reason):
        reading.read("G1", text, TABLES["bargaining"])


@pytest.mark.parametrize("missing", ["config.json", "game.csv"])
def test_a_missing_file_is_named(tmp_path, missing):
    (tmp_path / "config.json").write_text(config("bargaining"))
    (tmp_path / "game.csv").write_text(TABLES["bargaining"])
    (tmp_path / missing).unlink()
    with pytest.raises(UnreadableRecord, match=f"{missing} is missing"):
        reading.read_game(tmp_path)


def test_a_file_in_another_encoding_is_named(tmp_path):
    (tmp_path / "config.json").write_text(config("bargaining"))
    (tmp_path / "game.csv").write_bytes(TABLES["bargaining"].replace("Hello", "ü").encode("latin-1"))
    with pytest.raises(UnreadableRecord, match=r"game\.csv .*UTF-8 \(byte 56\)"):
        reading.read_game(tmp_path)
