"""Published games under our rules: the paper's formulas give the results; rule violations are kept and reported."""

from __future__ import annotations

import json

import pytest

from exports.glee.published import replay_game
from exports.glee.tests.building import FAMILIES, PEOPLE, TABLES, needs_persuasion, read
from exports.published import UnreadableRecord


def played(*args, **keywords):
    return replay_game(read(*args, **keywords))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_legal_game_has_a_log_with_results(family):
    outcome = played(family)
    assert outcome.events[0].data["seed"] == 0
    assert outcome.events[-1].data == {"payoffs": outcome.payoffs, "metrics": outcome.metrics}
    assert outcome.unverified is None


# ---- the paper's formulas ----------------------------------------------------------------------


def test_an_agreement_in_round_two_is_discounted_once():
    outcome = played("bargaining")
    assert outcome.payoffs == {"alice": pytest.approx(45), "bob": pytest.approx(40)}
    assert outcome.metrics["efficiency"] == pytest.approx(0.9 * 0.5 + 0.8 * 0.5)
    assert outcome.metrics["fairness"] == 1


def test_bargaining_without_agreement_pays_no_one_and_is_fair():
    table = TABLES["bargaining"].replace("accept", "reject")
    outcome = played("bargaining", table, {"max_rounds": 2})
    assert outcome.payoffs == {"alice": 0, "bob": 0}
    assert (outcome.metrics["fairness"], outcome.metrics["efficiency"]) == (1, 0)


@pytest.mark.parametrize(("price", "efficient"), [(79, 0), (80, 1), (120, 1), (121, 0)])
def test_a_trade_is_efficient_only_between_the_two_values(price, efficient):
    table = f"product_price,player,round,decision\n{price},Alice,1,\n,Bob,1,AcceptOffer\n"
    outcome = played("negotiation", table)
    assert outcome.metrics["efficiency"] == efficient
    assert outcome.payoffs == {"alice": pytest.approx(price - 80), "bob": pytest.approx(120 - price)}
    assert outcome.metrics["fairness_raw"] == pytest.approx(1 - 4 * ((price - 100) / 100) ** 2)


def test_walking_away_is_efficient_without_gains_from_trade():
    table = "product_price,player,round,decision\n90,Alice,1,\n,Bob,1,BuyFromJhon\n"
    outcome = played("negotiation", table, {"seller_value": 1.2, "buyer_value": 1.0})
    assert outcome.payoffs == {"alice": 0, "bob": 0}
    assert (outcome.metrics["efficiency"], outcome.metrics["fairness"]) == (1, 1)


@needs_persuasion
def test_the_buyer_gains_from_purchases():
    table = (
        "round_quality,product_worth,player,round,message,decision\n"
        "high-quality,125.0,Nature,1,,\n,,Alice,1,Buy,\n,,Bob,1,,yes\n"
        "low-quality,0.0,Nature,2,,\n,,Alice,2,Buy,\n,,Bob,2,,yes\n"
        "low-quality,0.0,Nature,3,,\n,,Alice,3,Buy,\n,,Bob,3,,no\n"
        "high-quality,125.0,Nature,4,,\n,,Alice,4,Buy,\n,,Bob,4,,no\n"
    )
    outcome = played("persuasion", table, {"total_rounds": 4})
    assert outcome.payoffs == {"alice": pytest.approx(200), "bob": pytest.approx(25 - 100)}
    assert outcome.metrics == {
        "high_quality_rounds": 2, "sold": 2, "sold_high": 1, "sold_low": 1, "efficiency": 0.5, "fairness": 0.5,
        "alice_self_gain": pytest.approx(0.5), "bob_self_gain": pytest.approx(-75 / 400),
    }  # fmt: skip


@needs_persuasion
def test_shares_of_zero_rounds_are_undefined():
    outcome = played("persuasion", TABLES["persuasion"].replace("high-quality", "low-quality"))
    assert outcome.metrics["efficiency"] is None
    assert outcome.metrics["fairness"] == 0.5


# ---- kept but not verified --------------------------------------------------------------------


def test_an_offer_with_a_wrong_sum_is_kept_unchanged():
    outcome = played("bargaining", TABLES["bargaining"].replace("50,50", "50,45"))
    assert outcome.payoffs == {"alice": pytest.approx(45), "bob": pytest.approx(36)}
    assert outcome.unverified.startswith("Move 3 by bob: ") and "$95" in outcome.unverified


@pytest.mark.parametrize("family", FAMILIES)
def test_a_message_of_3000_characters_is_kept(family):
    message = "words " * 500
    table = {
        "bargaining": TABLES["bargaining"].replace("Hello", message),
        "negotiation": f"message,product_price,player,round,decision\n{message},90,Alice,1,\n,,Bob,1,AcceptOffer\n",
        "persuasion": TABLES["persuasion"].replace("It is good too", message),
    }[family]
    outcome = played(family, table, {} if family == "persuasion" else {"messages_allowed": True})
    messages = [event.data["move"].get("message") for event in outcome.events if event.kind == "move"]
    assert message in messages
    assert "at most 2000 characters" in outcome.unverified


def test_messages_that_were_not_allowed_are_kept():
    outcome = played("bargaining", args={"messages_allowed": False})
    assert outcome.events[1].data["move"]["message"] == "Hello"
    assert "without messages" in outcome.unverified


def test_text_around_an_answer_is_dropped_and_reported():
    outcome = played("bargaining", TABLES["bargaining"].replace(",,,Bob,1,reject", ",,No!,Bob,1,reject"))
    assert outcome.unverified.startswith("Row 3: the message beside")


@needs_persuasion
def test_a_seller_without_message_does_not_stop_the_import():
    outcome = played("persuasion", TABLES["persuasion"].replace("It is good too", ""))
    assert outcome.unverified.startswith("Row 6: the seller sent no")


# ---- not read ----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_a_game_cut_off_before_its_end_is_refused(family):
    table = "\n".join(TABLES[family].splitlines()[:-1])
    with pytest.raises(UnreadableRecord, match=r"after 3 moves .* (alice|bob)"):
        played(family, table)


def test_moves_after_the_end_are_refused():
    with pytest.raises(UnreadableRecord, match="Move 5 by alice: "):
        played("bargaining", TABLES["bargaining"] + "50,50,,Alice,3,\n")


def test_a_persuasion_game_reports_missing_rounds():
    with pytest.raises(UnreadableRecord, match=r"game\.csv has 2 of 20 rounds"):
        read("persuasion", args={"total_rounds": 20})


def test_an_empty_game_is_refused():
    with pytest.raises(UnreadableRecord, match=r"after 0 moves .* alice"):
        played("bargaining", TABLES["bargaining"].splitlines()[0])


def test_amounts_that_overflow_are_refused():
    with pytest.raises(UnreadableRecord, match="too large"):
        played("bargaining", TABLES["bargaining"].replace("50,50", "1e300,50"))


def test_an_invalid_configuration_is_refused_with_its_reason():
    with pytest.raises(UnreadableRecord, match=r"delta_alice.* at most 1"):
        played("bargaining", args={"delta_1": 1.5})


# ---- the line for a file -----------------------------------------------------------------------


def test_the_json_line_of_a_game_omits_names_and_messages():
    named_players = {**PEOPLE, "player_1_args": {"public_name": "Maya", "model_name": "otree"}}
    outcome = played("bargaining", TABLES["bargaining"].replace("Alice", "Maya"), players=named_players)
    line = outcome.as_line()
    assert set(line) == {"game_id", "family", "config", "payoffs", "metrics", "players", "unverified", "disagreements"}
    assert json.loads(json.dumps(line)) == line
    assert line["players"] == {"alice": "human", "bob": "gemini-1.5-flash"}
    assert line["config"]["cap"] == 99
    assert "Maya" not in json.dumps(line)
    assert "Hello" not in json.dumps(line)
