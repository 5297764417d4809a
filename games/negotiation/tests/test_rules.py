"""Negotiation against its formulas (GLEE section 2.2), which are written out independently here."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import games.play
from games.errors import BadConfig, Refused
from games.negotiation.rules import Negotiation
from games.negotiation.state import AnswerOrLeave
from games.tests import kit

SCALES = st.sampled_from([1e2, 1e4, 1e6]) | st.floats(0.5, 1e9)
FACTORS = st.sampled_from([0.8, 1.0, 1.2, 1.5]) | st.floats(0.05, 20)
REJECT, ACCEPT, WALK_AWAY = {"decision": "reject"}, {"decision": "accept"}, {"decision": "walk_away"}


def negotiation(**config) -> Negotiation:
    return games.play.configure(Negotiation, config)


def play_out(game: Negotiation, moves: list[dict]) -> games.play.Play:
    return kit.played(game, *moves)


def trade_in_round(game: Negotiation, number: int, price: float) -> games.play.Play:
    """Reject all prices before round `number` and accept that round's price."""
    return play_out(game, [{"price": 1}, REJECT] * (number - 1) + [{"price": price}, ACCEPT])


class TestTrade:
    @given(
        scale=SCALES, seller_factor=FACTORS, buyer_factor=FACTORS, price_factor=st.floats(0, 30),
        number=st.integers(1, 10),
    )  # fmt: skip
    def test_payoffs_and_metrics(self, scale, seller_factor, buyer_factor, price_factor, number):
        price = scale * price_factor
        to_seller, to_buyer = scale * seller_factor, scale * buyer_factor
        game = negotiation(scale=scale, seller_factor=seller_factor, buyer_factor=buyer_factor)
        play = trade_in_round(game, number, price)
        assert play.over
        assert play.payoffs() == {
            "alice": pytest.approx(price - to_seller, abs=1e-9 * scale),
            "bob": pytest.approx(to_buyer - price, abs=1e-9 * scale),
        }
        metrics = play.metrics()
        assert metrics["trade"] is True
        assert metrics["price"] == price
        assert metrics["rounds_played"] == number
        assert metrics["efficiency"] == (1 if to_seller <= price <= to_buyer else 0)
        fairness = 1 - 4 * (price_factor - (seller_factor + buyer_factor) / 2) ** 2
        assert metrics["fairness_raw"] == pytest.approx(fairness, abs=1e-6)
        assert metrics["fairness"] == pytest.approx(max(0, min(1, fairness)), abs=1e-6)
        assert metrics["alice_self_gain"] == pytest.approx(price_factor - seller_factor, abs=1e-9)
        assert metrics["bob_self_gain"] == pytest.approx(buyer_factor - price_factor, abs=1e-9)

    @given(price=st.floats(0, allow_nan=False, allow_infinity=False), scale=st.sampled_from([1e-3, 1.0, 1e9]))
    def test_extreme_prices_are_exact_and_results_finite(self, price, scale):
        play = trade_in_round(negotiation(scale=scale), 1, price)
        assert play.state.accepted.price == price
        assert play.metrics()["price"] == price
        results = [*play.payoffs().values(), *play.metrics().values()]
        assert all(math.isfinite(number) for number in results)

    @pytest.mark.parametrize(
        ("seller_factor", "buyer_factor", "price", "efficiency"),
        [
            (0.8, 1.2, 8_000, 1), (0.8, 1.2, 12_000, 1), (0.8, 1.2, 7_999.99, 0), (0.8, 1.2, 12_000.01, 0),
            (1.2, 0.8, 10_000, 0), (1, 1, 10_000, 1), (1, 1, 10_000.01, 0),
        ],
    )  # fmt: skip
    def test_trade_between_both_values_is_efficient(self, seller_factor, buyer_factor, price, efficiency):
        game = negotiation(seller_factor=seller_factor, buyer_factor=buyer_factor)
        assert trade_in_round(game, 1, price).metrics()["efficiency"] == efficiency

    @pytest.mark.parametrize(
        ("price", "raw", "clipped"), [(10_000, 1, 1), (12_500, 0.75, 0.75), (15_000, 0, 0), (20_000, -3, 0)]
    )
    def test_fairness_is_reported_raw_and_limited(self, price, raw, clipped):
        metrics = trade_in_round(negotiation(seller_factor=0.8, buyer_factor=1.2), 1, price).metrics()
        assert metrics["fairness_raw"] == pytest.approx(raw)
        assert metrics["fairness"] == pytest.approx(clipped)


class TestNoTrade:
    @given(
        rounds=st.integers(1, 15), horizon_known=st.booleans(), leaves=st.booleans(), seller_factor=FACTORS,
        buyer_factor=FACTORS,
    )  # fmt: skip
    def test_payoffs_and_metrics(self, rounds, horizon_known, leaves, seller_factor, buyer_factor):
        horizon = {"rounds": rounds} if horizon_known else {"rounds": None, "cap": rounds}
        game = negotiation(seller_factor=seller_factor, buyer_factor=buyer_factor, **horizon)
        end = WALK_AWAY if leaves else REJECT
        play = play_out(game, [{"price": 5}, REJECT] * (rounds - 1) + [{"price": 5}, end])
        assert play.over
        assert play.payoffs() == {"alice": 0, "bob": 0}
        assert play.metrics() == {
            "trade": False,
            "price": None,
            "rounds_played": rounds,
            "efficiency": 1 if 10_000 * seller_factor >= 10_000 * buyer_factor else 0,
            "fairness": 1,
            "fairness_raw": 1,
            "alice_self_gain": 0,
            "bob_self_gain": 0,
        }

    @pytest.mark.parametrize("number", [1, 2, 3])
    def test_walking_away_ends_the_match(self, number):
        play = play_out(negotiation(), [{"price": 5}, REJECT] * (number - 1) + [{"price": 5}, WALK_AWAY])
        assert play.over
        assert play.metrics()["rounds_played"] == number


class TestOffers:
    @pytest.mark.parametrize(
        ("move", "reason", "field"),
        [
            ({"price": -1e-300}, "Price.*at least 0", "price"),
            ({}, "Price.*required", "price"),
            ({"price": 1, "message": "x" * 2001}, "at most 2000", "message"),
        ],
    )
    def test_invalid_offer_is_refused_with_reason_and_field(self, move, reason, field):
        with pytest.raises(Refused, match=reason) as refused:
            play_out(negotiation(), [move])
        assert refused.value.field == field

    def test_price_of_zero_is_legal(self):
        assert trade_in_round(negotiation(), 1, 0).payoffs() == {"alice": -10_000, "bob": 10_000}

    def test_message_is_refused_if_messages_are_off(self):
        with pytest.raises(Refused, match="without messages"):
            play_out(negotiation(messages_allowed=False), [{"price": 1, "message": "hi"}])


class TestTurns:
    def test_alice_names_prices_in_odd_rounds_and_bob_in_even_rounds(self):
        turns = []
        play, _events = games.play.start(negotiation(rounds=4), 1)
        while not play.over:
            (role,) = play.waiting_for()
            turns.append((role, play.forms(role)[0].name))
            play, _events = games.play.submit(play, role, REJECT if turns[-1][1] == "answer" else {"price": 1})
        assert turns == [("alice", "offer"), ("bob", "answer"), ("bob", "offer"), ("alice", "answer")] * 2

    def test_outside_option_allows_three_answers(self):
        with pytest.raises(Refused, match=r"accept.*reject.*walk_away"):
            play_out(negotiation(), [{"price": 1}, {"decision": "maybe"}])

    def test_walking_away_is_refused_without_outside_option(self):
        with pytest.raises(Refused, match=r"accept.*reject") as refused:
            play_out(negotiation(outside_option=False), [{"price": 1}, WALK_AWAY])
        assert "walk" not in str(refused.value)
        assert play_out(negotiation(outside_option=False, rounds=1), [{"price": 1}, REJECT]).over

    @given(seller_factor=FACTORS, buyer_factor=FACTORS, number=st.integers(1, 4))
    def test_default_moves_reject_and_name_own_value(self, seller_factor, buyer_factor, number):
        game = negotiation(seller_factor=seller_factor, buyer_factor=buyer_factor)
        play = play_out(game, [{"price": 1}, REJECT] * (number - 1))
        (role,) = play.waiting_for()
        move = game.default(play.state, role)
        assert move == {"price": 10_000 * (seller_factor if role == "alice" else buyer_factor)}
        offered, _events = games.play.submit(play, role, move)
        assert game.default(offered.state, offered.waiting_for()[0]) == REJECT
        accepted, _events = games.play.submit(offered, offered.waiting_for()[0], ACCEPT)
        assert accepted.payoffs()[role] == 0


class TestConfig:
    @pytest.mark.parametrize(
        ("config", "reason"),
        [
            ({"scale": 0}, "scale.*more than 0"),
            ({"seller_factor": 0}, "seller_factor.*more than 0"),
            ({"buyer_factor": -1}, "buyer_factor.*more than 0"),
            ({"scale": 1e200, "buyer_factor": 1e200}, "amount of money"),
            ({"rounds": 0}, "rounds.*at least 1"),
        ],
    )
    def test_invalid_configuration_is_refused_by_key(self, config, reason):
        with pytest.raises(BadConfig, match=reason):
            negotiation(**config)

    def test_defaults(self):
        assert list(negotiation().config.model_dump().items()) == [
            ("scale", 10_000), ("seller_factor", 1), ("buyer_factor", 1), ("rounds", 10),
            ("complete_information", True), ("messages_allowed", True), ("outside_option", True), ("cap", 99),
        ]  # fmt: skip


@given(
    payoff=st.floats(-1e6, 1e6), scale=SCALES, seller_factor=FACTORS, buyer_factor=FACTORS, role=st.sampled_from("ab")
)
def test_bonus_share(payoff, scale, seller_factor, buyer_factor, role):
    game = negotiation(scale=scale, seller_factor=seller_factor, buyer_factor=buyer_factor)
    at_stake = max(scale * abs(seller_factor - buyer_factor), scale / 10)
    assume(at_stake > 1e-6)
    expected = min(max(0.5 + payoff / (2 * at_stake), 0), 1)
    assert game.bonus_share({"a": "alice", "b": "bob"}[role], payoff) == pytest.approx(expected, abs=1e-9)


def test_bonus_share_is_one_for_whole_surplus_and_half_without_trade():
    game = negotiation(seller_factor=0.8, buyer_factor=1.2)
    assert [game.bonus_share("alice", payoff) for payoff in (4000, 0, -4000)] == [1, 0.5, 0]
    equal = negotiation()
    assert [equal.bonus_share("bob", payoff) for payoff in (1000, 500, -1000)] == [1, 0.75, 0]


@given(seed=st.integers(0, 10_000), alice=st.sampled_from(sorted(Negotiation.scripts)), cap=st.integers(1, 40))
def test_every_match_ends_within_its_rounds(seed, alice, cap):
    game = negotiation(rounds=None, cap=cap, seller_factor=1.5, outside_option=False)
    assert len(kit.finished(game, alice, "haggler", seed=seed).state.proposals) <= cap


@pytest.mark.parametrize(("rounds", "asks"), [(1, False), (2, True), (None, True)])
def test_page_asks_before_a_player_walks_away_from_a_game_that_could_go_on(rounds, asks):
    game = negotiation(rounds=rounds, outside_option=True)
    state = play_out(game, [{"price": 1}]).state
    warning = game.warning(state, "bob", AnswerOrLeave(decision="walk_away"))
    assert (warning is not None and warning.button == "Walk away") is asks
    assert all(game.warning(state, "bob", AnswerOrLeave(decision=answer)) is None for answer in ("accept", "reject"))
