"""Bargaining against its formulas (GLEE section 2.1), which are written out independently here."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games.play
from games.bargaining.rules import Bargaining
from games.bargaining.state import Rounds
from games.errors import BadConfig, Refused
from games.tests import kit

FACTORS = st.floats(0.05, 1.0)
SHARES = st.floats(0, 1)


def bargaining(**config) -> Bargaining:
    return games.play.configure(Bargaining, config)


def play_out(game: Bargaining, moves: list[dict]) -> games.play.Play:
    return kit.played(game, *moves)


def agreement_in_round(game: Bargaining, number: int, alice_gain: float) -> games.play.Play:
    """Reject all offers before round `number` and accept that round's offer."""
    offer = {"alice_gain": alice_gain, "bob_gain": game.config.money - alice_gain}
    return play_out(game, [offer, {"decision": "reject"}] * (number - 1) + [offer, {"decision": "accept"}])


class TestResult:
    @given(
        money=st.sampled_from([1e2, 1e4, 1e6]) | st.floats(1, 1e9), delta_alice=FACTORS, delta_bob=FACTORS,
        share=SHARES, number=st.integers(1, 12),
    )  # fmt: skip
    def test_agreement(self, money, delta_alice, delta_bob, share, number):
        game = bargaining(money=money, delta_alice=delta_alice, delta_bob=delta_bob)
        play = agreement_in_round(game, number, share * money)
        left_alice, left_bob = delta_alice ** (number - 1), delta_bob ** (number - 1)
        assert play.over
        assert play.payoffs()["alice"] == pytest.approx(money * left_alice * share)
        assert play.payoffs()["bob"] == pytest.approx(money * left_bob * (1 - share), abs=1e-9 * money)
        metrics = play.metrics()
        assert metrics["agreement"] is True
        assert metrics["rounds_played"] == number
        assert metrics["alice_share"] == pytest.approx(share)
        assert metrics["efficiency"] == pytest.approx(left_alice * share + left_bob * (1 - share))
        assert metrics["fairness"] == pytest.approx(1 - 4 * (share - 0.5) ** 2)
        assert metrics["alice_self_gain"] == pytest.approx(left_alice * share)
        assert metrics["bob_self_gain"] == pytest.approx(left_bob * (1 - share), abs=1e-9)

    @given(rounds=st.integers(1, 15), horizon_known=st.booleans())
    def test_no_agreement(self, rounds, horizon_known):
        game = bargaining(rounds=rounds) if horizon_known else bargaining(rounds=None, cap=rounds)
        play = play_out(game, [{"alice_gain": 1.0, "bob_gain": 9999.0}, {"decision": "reject"}] * rounds)
        assert play.payoffs() == {"alice": 0, "bob": 0}
        assert play.metrics() == {
            "agreement": False, "rounds_played": rounds, "alice_share": None, "efficiency": 0, "fairness": 1,
            "alice_self_gain": 0, "bob_self_gain": 0,
        }  # fmt: skip

    def test_no_discount_in_the_first_round(self):
        play = agreement_in_round(bargaining(delta_alice=0.5, delta_bob=0.5), 1, 7000)
        assert play.payoffs() == {"alice": 7000, "bob": 3000}


class TestOffers:
    @given(miss=st.floats(-0.99e-6, 0.99e-6))
    def test_sum_within_a_millionth_of_the_money_is_accepted(self, miss):
        play = play_out(bargaining(), [{"alice_gain": 6000.0, "bob_gain": 4000 + miss * 10_000}])
        assert play.waiting_for() == ("bob",)

    @pytest.mark.parametrize(
        ("money", "bob_gain", "sums"),
        [
            *((10_000, 4000 + miss, r"\$[\d,.]+.*\$10,000") for miss in (-4000, -1, -0.02, 0.02, 1, 6000)),
            (6010, 10.01, r"\$6,010\.01.*\$6,010\."),
        ],
    )
    def test_refusal_of_wrong_sum_names_both_sums_with_all_digits(self, money, bob_gain, sums):
        with pytest.raises(Refused, match=sums):
            play_out(bargaining(money=money), [{"alice_gain": 6000, "bob_gain": bob_gain}])

    def test_form_names_the_sum_with_all_digits(self):
        (form,) = bargaining(money=33.333).turn(Rounds()).forms["alice"]
        assert "$33.333." in form.help

    @pytest.mark.parametrize(
        ("move", "reason", "field"),
        [
            ({"alice_gain": -1, "bob_gain": 10_001}, "Alice gets.*at least 0", "alice_gain"),
            ({"alice_gain": 10_000}, "Bob gets.*required", "bob_gain"),
            ({"alice_gain": 6000, "bob_gain": 4000, "message": "x" * 2001}, "at most 2000", "message"),
        ],
    )
    def test_invalid_offer_is_refused_with_reason_and_field(self, move, reason, field):
        with pytest.raises(Refused, match=reason) as refused:
            play_out(bargaining(), [move])
        assert refused.value.field == field

    def test_message_is_refused_if_messages_are_off(self):
        with pytest.raises(Refused, match="without messages"):
            play_out(bargaining(messages_allowed=False), [{"alice_gain": 1, "bob_gain": 9999, "message": "hi"}])


class TestTurns:
    def test_alice_proposes_in_odd_rounds_and_bob_in_even_rounds(self):
        turns = []
        play, _events = games.play.start(bargaining(rounds=4), 1)
        while not play.over:
            (role,) = play.waiting_for()
            turns.append((role, play.forms(role)[0].name))
            move = {"decision": "reject"} if turns[-1][1] == "answer" else {"alice_gain": 1, "bob_gain": 9999}
            play, _events = games.play.submit(play, role, move)
        assert turns == [("alice", "offer"), ("bob", "answer"), ("bob", "offer"), ("alice", "answer")] * 2

    def test_one_round_match_ends_with_its_answer(self):
        assert play_out(bargaining(rounds=1), [{"alice_gain": 1, "bob_gain": 9999}, {"decision": "reject"}]).over

    def test_only_accept_and_reject_are_valid_answers(self):
        with pytest.raises(Refused, match=r"accept.*reject"):
            play_out(bargaining(), [{"alice_gain": 1, "bob_gain": 9999}, {"decision": "maybe"}])

    def test_default_moves_offer_half_and_reject(self):
        game = bargaining(money=0.3)
        play = play_out(game, [game.default(Rounds(), "alice")])
        assert play.state.on_table.gain("bob") == pytest.approx(0.15)
        assert game.default(play.state, "bob") == {"decision": "reject"}


class TestConfig:
    @pytest.mark.parametrize(
        ("config", "reason"),
        [
            ({"money": 0}, "money.*more than 0"), ({"delta_alice": 0}, "delta_alice.*more than 0"),
            ({"delta_bob": 1.01}, "delta_bob.*at most 1"), ({"rounds": 0}, "rounds.*at least 1"),
        ],
    )  # fmt: skip
    def test_invalid_configuration_is_refused_by_key(self, config, reason):
        with pytest.raises(BadConfig, match=reason):
            bargaining(**config)

    def test_defaults_are_the_baselines_of_the_analysis(self):
        assert bargaining().config.model_dump() == {
            "money": 10_000, "delta_alice": 0.9, "delta_bob": 0.9, "rounds": 12, "complete_information": True,
            "messages_allowed": True, "cap": 99,
        }  # fmt: skip


@given(payoff=st.floats(-1e6, 1e6))
def test_bonus_share_is_payoff_over_money_within_bounds(payoff):
    assert bargaining().bonus_share("bob", payoff) == pytest.approx(min(max(payoff / 10_000, 0), 1))
