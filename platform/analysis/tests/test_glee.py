"""GLEE's analyses on datasets with effects known by hand."""

from __future__ import annotations

from itertools import product

import pytest

from analysis import load
from analysis.published.glee import prediction
from analysis.published.glee.families import FAMILIES
from analysis.published.glee.prediction import rmse, split
from analysis.published.glee.together import equilibria, same_model_difference
from analysis.tests.building import dataset, match

FLASH, GPT_4O, HUMAN = "google:gemini-1.5-flash", "openai:gpt-4o", "human"
PEOPLE = ("participant_alice", "participant_bob")


def bargains(players=(FLASH, GPT_4O, HUMAN), **effects):
    """Every market and pair of players except two people, with efficiency as a sum of effects."""
    rows = []
    for rounds, complete_information, messages, alice, bob in product(
        (12, None), (True, False), (True, False), players, players
    ):
        if (alice, bob) == (HUMAN, HUMAN):
            continue
        number = len(rows)
        value = 0.5 + 0.1 * (rounds == 12) + 0.02 * (not complete_information)
        value += 0.04 * (rounds == 12 and messages) - 0.05 * messages
        gain = 0.4 + {FLASH: 0, GPT_4O: 0.03, HUMAN: 0.2}[alice]
        rows.append(
            match(
                number,
                game="bargaining",
                player_alice=alice,
                player_bob=bob,
                config_delta_alice=0.9,
                config_delta_bob=0.8,
                config_money=100,
                config_rounds=rounds,
                config_complete_information=complete_information,
                config_messages_allowed=messages,
                efficiency=value,
                fairness=1 - value,
                alice_self_gain=gain,
                bob_self_gain=1 - gain,
                alice_share=gain,
                cell_kind="main",
                **effects,
                **{
                    f"participant_{role}": f"p{number}"
                    for role, player in (("alice", alice), ("bob", bob))
                    if player == HUMAN
                },
            )
        )
    return rows


@pytest.fixture
def glee_data(tmp_path):
    rows = bargains()
    for row in rows:
        row.setdefault("participant_alice", None)
    first = [
        {"match": row["match"], "move_number": 1, "role": "alice", "move_alice_gain": 100 * share}
        for row, share in zip(rows, [0.5, 0.6, 0.7, 0.8] * len(rows), strict=False)
    ]
    people = [
        {
            "participant": f"p{number}",
            "check_code_word_passed": number != 0,
            "check_quiz_passed": None if number == 0 else number > 2,
        }
        for number in range(10)
    ]
    messages = [{"match": rows[0]["match"], "role": "alice", "words": 7}]
    return load(dataset(tmp_path / "d", {
        "matches": rows, "decisions": first, "participants": people, "messages": messages,
    }))  # fmt: skip


def test_markets_have_the_papers_layout_and_values(glee_data):
    rows = glee_data.run("glee.market").tables["bargaining"].frame.to_dict("records")
    best, reference = rows[0], next(row for row in rows if row["reference"])
    assert [best[f"market_{column}"] for column in range(3)] == ["12", "no", "no"]
    # 10 points for the horizon, 2 for the information; their interaction is a market of its own.
    assert best["efficiency"] == pytest.approx(12)
    by_market = {tuple(row[f"market_{column}"] for column in range(3)): row["efficiency"] for row in rows}
    assert by_market["12", "yes", "yes"] == pytest.approx(10 - 5 + 4)
    assert (reference["efficiency"], reference["published_efficiency"]) == (0, 0)
    assert [row["published_efficiency"] for row in rows if row["market_0"] == "12"] == [-0.2, -0.8, -1.8, -3.7]
    assert [row["best_efficiency"] for row in rows].count(True) >= 1


def test_players_are_compared_with_the_papers_reference(glee_data):
    rows = {row["player"]: row for row in glee_data.run("glee.players").tables["bargaining"].frame.to_dict("records")}
    assert rows[FLASH]["alice"] == 0
    assert (rows[GPT_4O]["alice"], rows[HUMAN]["alice"]) == (pytest.approx(3), pytest.approx(20))
    assert rows[GPT_4O]["bob"] == pytest.approx(0, abs=1e-9)
    assert rows[HUMAN]["published_alice"] == "6.6 ± 1.1"


def test_people_are_ranked_among_the_players(tmp_path):
    rows = bargains()
    for number, row in enumerate(rows):
        row["alice_self_gain"] += 0.001 * (number % 3)
    data = load(dataset(tmp_path / "d", {"matches": rows}))
    rows = {row["role"]: row for row in data.run("glee.humans").tables["ranks"].frame.to_dict("records")}
    assert (rows["Alice"]["rank"], rows["Alice"]["of"], rows["Alice"]["best"]) == (1, 3, GPT_4O)
    assert rows["Alice"]["verdict"] == "above the best model"
    assert rows["Alice"]["published"] == "highest"


def test_constant_parameters_and_unverified_matches_are_reported(tmp_path):
    data = load(dataset(tmp_path / "d", {"matches": bargains(unverified="the parts do not sum")}))
    warnings = " ".join(data.run("glee.effects").result.warnings)
    assert "Delta bob: 0.9 does not occur" in warnings
    assert "64 matches that break" in warnings


def test_a_pairs_effect_is_relative_to_the_mean_over_pairs(tmp_path):
    rows = bargains((FLASH, GPT_4O))
    for row in rows:
        row["efficiency"] += 0.08 * (row["player_alice"] == row["player_bob"] == GPT_4O)
    outcome = load(dataset(tmp_path / "d", {"matches": rows})).run("glee.pairs")
    table = outcome.tables["bargaining"].frame
    effects = table[table["metric"] == "Efficiency"].set_index(["alice", "bob"])["estimate"]
    assert effects[GPT_4O, GPT_4O] == pytest.approx(0.06)
    assert effects[FLASH, GPT_4O] == pytest.approx(-0.02)
    assert outcome.tables["bargaining_range"].frame.set_index("metric").loc["Efficiency", "published_largest"] == 0.11


def test_a_model_with_itself_against_the_others():
    effects = {("a", "a"): 0.3, ("a", "b"): -0.1, ("b", "a"): 0.0, ("b", "b"): -0.2}
    difference = same_model_difference(effects)
    assert (difference["diagonal"], difference["others"]) == (pytest.approx(0.05), pytest.approx(-0.05))
    assert difference["estimate"] == pytest.approx(0.1)


def test_equilibria_of_the_choice_of_models(tmp_path):
    alice = {("a", "x"): 2, ("a", "y"): 0, ("b", "x"): 1, ("b", "y"): 1}
    bob = {("a", "x"): 1, ("a", "y"): 0, ("b", "x"): 0, ("b", "y"): 2}
    assert equilibria(alice, bob) == [("a", "x"), ("b", "y")]
    rows = bargains((FLASH, GPT_4O))
    for row in rows:  # Alice gains most with gpt-4o, and Bob's best reply is gpt-4o too
        row["bob_self_gain"] = 0.5 + 0.1 * (row["player_bob"] == GPT_4O) + 0.01 * (row["match"][-1] in "13579")
    outcome = load(dataset(tmp_path / "d", {"matches": rows})).run("glee.meta_game", draws=20)
    [row] = outcome.tables["equilibria"].frame.to_dict("records")
    assert (row["alice"], row["bob"], row["share"]) == (GPT_4O, GPT_4O, 1.0)


def test_first_offers_and_final_gains(glee_data):
    rows = {row["who"]: row for row in glee_data.run("glee.anchoring").tables["correlations"].frame.to_dict("records")}
    assert set(rows) == {"human Bob", "human Alice", "agents only"}
    assert rows["human Bob"]["published"] == 0.63
    assert rows["human Bob"]["n"] == 16


def test_shuffles_are_fixed_and_errors_are_out_of_sample(glee_data, monkeypatch):
    train, test = split(10, 3)
    assert len(test) == 2
    assert sorted([*train, *test]) == list(range(10))
    assert rmse([1.0, 2.0], [1.0, 4.0]) == pytest.approx(2**0.5)
    monkeypatch.setattr(prediction, "TREES", {})  # fitting trees takes seconds
    rows = glee_data.run("glee.prediction").tables["errors"].frame.set_index("metric")
    assert rows.loc["Efficiency", "linear"] == pytest.approx(0, abs=1e-9)
    assert rows.loc["Efficiency", "published"] == 0.131


def test_counts_are_shown_next_to_published_ones(glee_data):
    tables = glee_data.run("glee.counts").tables
    [row] = tables["families"].frame.to_dict("records")
    assert (row["games"], row["words"], row["published_games"]) == (64, 7, 33_700)
    [cell] = tables["cells"].frame.to_dict("records")
    assert (cell["kind"], cell["games"], cell["published_games"]) == ("main", 32, 50)


def test_checks_count_participants_who_reached_them(glee_data):
    rows = {row["check"]: row for row in glee_data.run("glee.checks").tables["failed"].frame.to_dict("records")}
    assert (rows["Code word"]["failed"], rows["Code word"]["n"]) == (1, 10)
    assert (rows["Quiz, bargaining"]["failed"], rows["Quiz, bargaining"]["n"]) == (2, 9)
    assert (rows["Either"]["failed"], rows["Either"]["n"]) == (3, 10)


def test_agreements_are_compared_with_the_equilibrium(glee_data):
    table = glee_data.run("glee.rationality").tables["bargaining"].frame
    infinite_horizon = table[(table["by"] == "Horizon") & (table["level"] == "∞")].iloc[0]
    # (1 - .8)/(1 - .72) = 5/7; the mean agreed share over the eight pairs of players is .4 + (3·.03 + 2·.2)/8.
    assert infinite_horizon["estimate"] == pytest.approx(0.4 + 0.49 / 8 - 5 / 7)


def test_trust_in_messages(tmp_path):
    row = match(
        1, game="persuasion", config_price=100, config_prior=0.5, config_high_value=3, config_complete_information=True,
        config_message_type="binary", config_buyer_type="long_living", efficiency=0.75, fairness=0.5,
        alice_self_gain=0.6, bob_self_gain=0.2,
    )  # fmt: skip
    pairs = [("yes", "yes"), ("yes", "no"), ("no", "no"), ("yes", "yes")]
    moves = [
        {"match": row["match"], "move_number": 2 * index + 1 + answers, "role": "bob" if answers else "alice",
         "move_recommendation": None if answers else pair[0], "move_decision": pair[1] if answers else None}
        for index, pair in enumerate(pairs) for answers in (0, 1)
    ]  # fmt: skip
    data = load(dataset(tmp_path / "d", {"matches": [row], "decisions": moves}))
    table = data.run("glee.rationality").tables["persuasion"].frame
    shares = {(r["by"], r["level"]): r["estimate"] for r in table.to_dict("records")}
    assert shares == {
        ("quality", "high"): 0.75, ("quality", "low"): 0.5, ("recommendation", "no"): 0.0,
        ("recommendation", "yes"): pytest.approx(2 / 3),
    }  # fmt: skip


def test_where_prices_lie(tmp_path):
    def negotiation(number, price, seller=1.0, buyer=1.2):
        return match(
            number, game="negotiation", config_scale=100, config_seller_factor=seller, config_buyer_factor=buyer,
            config_rounds=10, config_complete_information=True, config_messages_allowed=False, price=price,
            trade=price is not None, efficiency=1.0, fairness=1.0, fairness_raw=0.9, alice_self_gain=0.0,
            bob_self_gain=0.0,
        )  # fmt: skip

    rows = [negotiation(0, 105.0), negotiation(1, 130.0), negotiation(2, None), negotiation(3, 90.0)]
    outcome = load(dataset(tmp_path / "d", {"matches": rows})).run("glee.rationality")
    table = outcome.tables["negotiation"].frame.set_index("where")
    assert table["k"].to_dict() == {
        "within both values": 1, "below the seller's value": 1, "above the buyer's value": 1,
        "between crossed values": 0, "no trade": 1,
    }  # fmt: skip
    assert outcome.numbers["negotiation.position"]["estimate"] == pytest.approx((0.25 + 1.5 - 0.5) / 3)


def test_every_family_has_its_reference_configuration():
    assert FAMILIES["negotiation"].factors == {
        "config_seller_factor": 1.0, "config_buyer_factor": 1.0, "config_scale": 10_000.0, "market": "1 · yes · no",
    }  # fmt: skip
    assert FAMILIES["persuasion"].factors["market"] == "yes · binary · long-living"
