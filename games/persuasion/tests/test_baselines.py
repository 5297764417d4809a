"""The moves of each scripted player."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games.play
from games.persuasion import baselines
from games.persuasion.rules import Persuasion
from games.persuasion.state import Market, Round
from games.tests.kit import finished


def game(**config: Any) -> Persuasion:
    return games.play.configure(Persuasion, {"message_type": "binary", **config})


def recommends_product(script: str, quality: str, **config: Any) -> bool:
    move = baselines.SCRIPTS[script](game(**config), Market((Round(quality),)), "alice", Random(1))
    return move["recommendation"] == "yes"


def buys(script: str, *past_rounds: Round, recommended: bool = True, **config: Any) -> bool:
    """Return whether the script buys a product that is (not) recommended, after these rounds."""
    current = Round("low", recommendation="yes" if recommended else "no")
    return baselines.SCRIPTS[script](game(**config), Market((*past_rounds, current)), "bob", Random(1)) == {
        "decision": "yes"
    }


TRUTHFUL = Round("high", recommendation="yes", decision="yes")
MISLEADING = Round("low", recommendation="yes", decision="yes")
WARNED = Round("low", recommendation="no", decision="no")


@pytest.mark.parametrize(
    ("script", "high", "low"), [("honest", True, False), ("always_yes", True, True), ("never", False, False)]
)
def test_deterministic_sellers(script, high, low):
    assert (recommends_product(script, "high"), recommends_product(script, "low")) == (high, low)


@settings(deadline=None)
@given(prior=st.floats(0, 1), value=st.floats(1.01, 5))
def test_commitment_rate_matches_the_paper(prior, value):
    rate = baselines.commitment_rate(game(prior=prior, high_value=value))
    assert rate == pytest.approx(1.0 if prior == 1 else min(prior * (value - 1) / (1 - prior), 1))


@settings(deadline=None)
@given(prior=st.floats(0.01, 0.99), value=st.floats(1.01, 5), low=st.floats(0, 0.95))
def test_commitment_makes_recommended_products_worth_their_price(prior, value, low):
    rate = baselines.commitment_rate(game(prior=prior, high_value=value, low_value=low))
    gain = prior * (value - 1) + (1 - prior) * rate * (low - 1)
    assert gain == pytest.approx(0, abs=1e-9) if rate < 1 else gain >= -1e-9


def test_committed_seller_recommends_all_high_and_some_low_quality():
    configured, rng = game(prior=0.5, high_value=1.25), Random(7)
    assert all(recommends_product("commitment", "high") for _try in range(5))
    recommendations = [
        baselines.commitment(configured, Market((Round("low"),)), "alice", rng)["recommendation"] == "yes"
        for _try in range(4000)
    ]
    assert sum(recommendations) / 4000 == pytest.approx(0.25, abs=0.03)


def test_committed_seller_without_values_is_honest():
    assert baselines.commitment_rate(game(complete_information=False, high_value=4)) == 0


def test_bayesian_buyer_learns_from_the_prior():
    assert not buys("bayesian")  # 0.5·0.25 < 0.5·1
    assert buys("bayesian", prior=0.9)
    assert buys("bayesian", *[TRUTHFUL] * 8)
    assert not buys("bayesian", *[TRUTHFUL] * 8, *[MISLEADING] * 4)
    assert not buys("bayesian", *[TRUTHFUL] * 8, *[WARNED] * 8, recommended=False)


def test_myopic_bayesian_buyer_counts_purchases_and_low_quality():
    assert not buys("bayesian", buyer_type="myopic")
    assert buys("bayesian", prior=0.9, buyer_type="myopic")
    assert buys("bayesian", *[TRUTHFUL] * 20, buyer_type="myopic")
    assert not buys("bayesian", *[MISLEADING] * 20, prior=0.9, buyer_type="myopic")


def test_myopic_bayesian_buyer_ignores_messages_and_unsold_products():
    unsold = [Round("high", recommendation="yes", decision="no")] * 20
    assert not buys("bayesian", *unsold, buyer_type="myopic")
    bought_despite_warning = [Round("high", recommendation="no", decision="yes")] * 20
    assert buys("bayesian", *bought_despite_warning, buyer_type="myopic")


def test_bayesian_buyer_ignores_unrevealed_qualities():
    unseen = [Round("high", recommendation="yes", decision="no")] * 20
    assert buys("bayesian", *unseen)
    assert not buys("bayesian", *unseen, reveal_quality="if_bought")


@pytest.mark.parametrize(
    ("script", "recommended", "warned"),
    [("trusting", True, False), ("never", False, False), ("always_yes", True, True)],
)
def test_buyers_that_do_not_learn(script, recommended, warned):
    assert (buys(script), buys(script, recommended=False)) == (recommended, warned)


@pytest.mark.parametrize("sentence", [praise() for praise in baselines.PRAISE])
def test_praise_counts_as_a_recommendation(sentence):
    assert baselines.recommends(sentence)


@pytest.mark.parametrize("sentence", [warning() for warning in baselines.WARNINGS])
def test_warning_does_not_count_as_a_recommendation(sentence):
    assert not baselines.recommends(sentence)


@pytest.mark.parametrize(
    "sentence", ["Don't.", "I wouldn’t take it.", "There is nothing to praise.", "Low, alas.", "NEVER"]
)
def test_one_negative_word_is_enough(sentence):
    assert not baselines.recommends(sentence)


@pytest.mark.parametrize("sentence", ["Another note on novelty: knots, lowland, noble nonsense.", "Wonderful", "Yes!"])
def test_words_containing_a_negative_word_are_not_negative(sentence):
    assert baselines.recommends(sentence)


@pytest.mark.parametrize("message_type", ["text", "binary"])
def test_silent_seller_recommends_nothing(message_type):
    configured = game(message_type=message_type)
    play, _events = games.play.start(configured, 1)
    silent = games.play.submit(play, "alice", configured.default(play.state, "alice"))[0]
    assert games.play.script_move(silent, "bob", "trusting") == {"decision": "no"}


def test_trusting_buyer_follows_messages_of_an_honest_seller():
    configured = game(message_type="text", rounds=30)
    play = finished(configured, "honest", "trusting", seed=3)
    assert (play.metrics()["efficiency"], play.metrics()["fairness"]) == (1.0, 1.0)
