"""The rules of persuasion against their formulas (GLEE, section 2.3), which are written out independently here."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games.play
from conftest import examples
from games.errors import BadConfig, Refused
from games.persuasion.rules import Persuasion
from games.play import Play

QUALITIES = st.sampled_from(["high", "low"])
DECISIONS = st.sampled_from(["yes", "no"])
TEXT = {"message": "A fine product."}


def new_play(seed: int = 0, **config: Any) -> Play:
    return games.play.start(games.play.configure(Persuasion, config), seed)[0]


def after_moves(play: Play, *moves: tuple[str, dict[str, Any]]) -> Play:
    for role, move in moves:
        play, _events = games.play.submit(play, role, move)
    return play


def finished_play(qualities: list[str], decisions: list[str], **config: Any) -> Play:
    """Return a match with these qualities and decisions."""
    play = new_play(qualities=qualities, rounds=len(qualities), message_type="binary", **config)
    for decision in decisions:
        play = after_moves(play, ("alice", {"recommendation": "yes"}), ("bob", {"decision": decision}))
    return play


# ---- the result --------------------------------------------------------------------------------


@settings(max_examples=examples(150))
@given(
    rounds=st.lists(st.tuples(QUALITIES, DECISIONS), min_size=1, max_size=25),
    price=st.floats(0.01, 1e6),
    high_value=st.floats(1.01, 10),
    low_value=st.floats(0, 0.99),
    myopic=st.booleans(),
)
def test_payoffs_and_metrics_follow_the_formulas(rounds, price, high_value, low_value, myopic):
    qualities, decisions = [q for q, _d in rounds], [d for _q, d in rounds]
    play = finished_play(
        qualities,
        decisions,
        price=price,
        high_value=high_value,
        low_value=low_value,
        buyer_type="myopic" if myopic else "long_living",
    )
    assert play.finished
    high, low, total = qualities.count("high"), qualities.count("low"), len(rounds)
    sold_high, sold_low = rounds.count(("high", "yes")), rounds.count(("low", "yes"))
    buyer = price * (high_value - 1) * sold_high + price * (low_value - 1) * sold_low
    assert play.payoffs() == {
        "alice": pytest.approx(price * (sold_high + sold_low)),
        "bob": pytest.approx(buyer, abs=1e-6),
    }
    assert play.metrics() == {
        "high_quality_rounds": high,
        "sold": sold_high + sold_low,
        "sold_high": sold_high,
        "sold_low": sold_low,
        "efficiency": pytest.approx(sold_high / high) if high else None,
        "fairness": pytest.approx((low - sold_low) / low) if low else None,
        "alice_self_gain": pytest.approx((sold_high + sold_low) / total),
        "bob_self_gain": pytest.approx(buyer / (price * total), abs=1e-9),
    }


def test_metric_with_denominator_zero_is_empty():
    all_high = finished_play(["high"], ["yes"]).metrics()
    assert (all_high["efficiency"], all_high["fairness"]) == (1.0, None)
    all_low = finished_play(["low"], ["no"]).metrics()
    assert (all_low["efficiency"], all_low["fairness"]) == (None, 1.0)
    assert [name for name, value in all_low.items() if value is None] == ["efficiency"]


@pytest.mark.parametrize(
    ("role", "payoff", "share"),
    [
        ("alice", 0, 0), ("alice", 20 * 100, 1), ("alice", 5 * 100, 0.25), ("bob", 0, 0.5),
        ("bob", 20 * 100 * 0.5 * 0.25, 1), ("bob", -20 * 100 * 0.5 * 0.25, 0), ("bob", -1e9, 0), ("bob", 125, 0.75),
    ],
)  # fmt: skip
def test_bonus_share(role, payoff, share):
    assert new_play(price=100).game.bonus_share(role, payoff) == pytest.approx(share)


def test_bonus_share_if_no_product_can_be_good():
    assert new_play(prior=0).game.bonus_share("bob", 0) == 0.5


# ---- qualities -----------------------------------------------------------------------------------


def test_qualities_follow_the_prior_and_only_the_seller_knows_them():
    game = games.play.configure(Persuasion, {"prior": 0.8, "rounds": 400, "message_type": "binary"})
    play, events = games.play.start(game, 5)
    log = list(events)
    while not play.over:
        (role,) = play.waiting_for()
        play, events = games.play.submit(play, role, games.play.script_move(play, role, "honest"))
        log += events
    draws = [event.data for event in log if event.kind == "draw"]
    assert len(draws) == 400
    assert all(draw["known_to"] == ["alice"] for draw in draws)
    share = sum(draw["value"] == "high" for draw in draws) / 400
    assert abs(share - 0.8) < 4 * math.sqrt(0.8 * 0.2 / 400)
    assert play.metrics()["high_quality_rounds"] == round(share * 400)


def test_fixed_qualities_are_played_in_order():
    play = finished_play(["high", "low", "low"], ["yes", "yes", "no"])
    assert [past_round.quality for past_round in play.state.played] == ["high", "low", "low"]


def test_qualities_are_drawn_after_the_fixed_qualities():
    play = new_play(qualities=["low"], rounds=None, cap=3, prior=1, message_type="binary")
    for _round in range(3):
        play = after_moves(play, ("alice", {"recommendation": "no"}), ("bob", {"decision": "no"}))
    assert [past_round.quality for past_round in play.state.played] == ["low", "high", "high"]


def test_certain_priors():
    assert new_play(prior=1).state.rounds[0].quality == "high"
    assert new_play(prior=0).state.rounds[0].quality == "low"


# ---- rounds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("config", "last"), [({"rounds": 2}, 2), ({"rounds": None, "cap": 3}, 3)])
def test_game_ends_after_its_last_round(config, last):
    play = new_play(**config, message_type="binary")
    for number in range(last):
        assert not play.over, number
        assert play.waiting_for() == ("alice",)
        play = after_moves(play, ("alice", {"recommendation": "no"}))
        assert play.waiting_for() == ("bob",)
        play = after_moves(play, ("bob", {"decision": "no"}))
    assert play.finished


def test_people_never_play_the_myopic_buyer():
    assert new_play().game.people() == ("alice", "bob")
    myopic = new_play(buyer_type="myopic").game
    assert myopic.people() == ("alice",)
    assert (myopic.remembers("alice"), myopic.remembers("bob")) == (True, False)


# ---- refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "role", "move", "reason"),
    [
        ({}, "alice", {"recommendation": "yes"}, r"\(message\) is required"),
        ({}, "alice", {"message": ""}, "must not be empty"),
        ({}, "alice", {"message": " \n"}, "must not be empty"),
        ({}, "alice", {"message": "m" * 2001}, "at most 2,?000 characters"),
        ({}, "alice", {"message": None}, "must be text"),
        ({"message_type": "binary"}, "alice", TEXT, r"\(recommendation\) is required"),
        ({"message_type": "binary"}, "alice", {"recommendation": "maybe"}, "'yes' or 'no'"),
    ],
)
def test_illegal_move_is_refused_with_its_reason(config, role, move, reason):
    with pytest.raises(Refused, match=reason):
        after_moves(new_play(**config), (role, move))


@pytest.mark.parametrize("decision", ["accept", "", None, True, "Yes"])
def test_purchase_is_yes_or_no(decision):
    with pytest.raises(Refused, match="must be one of"):
        after_moves(new_play(), ("alice", TEXT), ("bob", {"decision": decision}))


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"price": 0}, "price"), ({"prior": 1.1}, "prior"), ({"high_value": 1}, "high_value"),
        ({"low_value": 1}, "low_value"), ({"low_value": -0.1}, "low_value"), ({"rounds": 0}, "rounds"),
        ({"message_type": "song"}, "message_type"), ({"buyer_type": "robot"}, "buyer_type"),
        ({"reveal_quality": "never"}, "reveal_quality"), ({"qualities": ["high"]}, "qualities"),
        ({"qualities": ["middling"] * 20}, "qualities"),
    ],
)  # fmt: skip
def test_invalid_configuration_is_refused_with_its_key(config, key):
    with pytest.raises(BadConfig, match=key):
        new_play(**config)
