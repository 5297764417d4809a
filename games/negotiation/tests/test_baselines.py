"""The scripted players against theory and against each other."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import games.play
from games.negotiation.rules import Negotiation
from games.negotiation.state import Proposal, Rounds
from games.tests.kit import finished, payoff_after

FACTORS = st.sampled_from([0.8, 1.0, 1.2, 1.5]) | st.floats(0.1, 5)
ACCEPT, REJECT, WALK_AWAY = {"decision": "accept"}, {"decision": "reject"}, {"decision": "walk_away"}


def negotiation(**config) -> Negotiation:
    return games.play.configure(Negotiation, config)


def match(alice: str, bob: str, seed: int = 1, **config) -> games.play.Play:
    return finished(negotiation(**config), alice, bob, seed=seed)


def scripted_move(game: Negotiation, script: str, *prices: float) -> dict:
    """Return the script's move after `prices`, all rejected except the last, which awaits an answer."""
    proposals = [Proposal(("alice", "bob")[index % 2], price, answer="reject") for index, price in enumerate(prices)]
    last = proposals.pop()
    state = Rounds((*proposals, Proposal(last.by, last.price)))
    return dict(game.scripts[script](game, state, "bob" if last.by == "alice" else "alice", Random(1)))


class TestEquilibriumWithFullInformation:
    @given(seller_factor=FACTORS, buyer_factor=FACTORS, rounds=st.integers(1, 12))
    def test_last_proposer_gets_the_whole_surplus_at_once(self, seller_factor, buyer_factor, rounds):
        assume(seller_factor <= buyer_factor)
        play = match(
            "equilibrium", "equilibrium", seller_factor=seller_factor, buyer_factor=buyer_factor, rounds=rounds
        )
        metrics = play.metrics()
        assert metrics["rounds_played"] == 1
        assert metrics["price"] == 10_000 * (buyer_factor if rounds % 2 else seller_factor)
        assert metrics["efficiency"] == 1

    @given(
        seller_factor=FACTORS, buyer_factor=FACTORS, rounds=st.integers(1, 6) | st.none(),
        outside_option=st.booleans(), played=st.integers(0, 3), price=st.floats(0, 60_000),
    )  # fmt: skip
    def test_no_single_deviation_pays(self, seller_factor, buyer_factor, rounds, outside_option, played, price):
        assume(rounds is None or played < rounds)
        game = negotiation(
            seller_factor=seller_factor, buyer_factor=buyer_factor, rounds=rounds, outside_option=outside_option,
            cap=12,
        )  # fmt: skip
        play, _events = games.play.start(game, 1)
        for _round in range(played):
            for move in ({"price": 1}, REJECT):
                play, _events = games.play.submit(play, play.waiting_for()[0], move)
        (proposer,) = play.waiting_for()
        assert payoff_after(play, proposer, {"price": price}) <= payoff_after(play, proposer) + 1e-6

        offered, _events = games.play.submit(play, proposer, {"price": price})
        (answerer,) = offered.waiting_for()
        for answer in (ACCEPT, REJECT, *([WALK_AWAY] if outside_option else [])):
            assert payoff_after(offered, answerer, answer) <= payoff_after(offered, answerer) + 1e-6

    @pytest.mark.parametrize(
        ("price", "answer"), [(12_000, ACCEPT), (12_000.01, REJECT), (9_000, ACCEPT), (15_000, REJECT)]
    )
    def test_in_a_single_round_buyer_accepts_up_to_its_value(self, price, answer):
        assert scripted_move(negotiation(rounds=1, buyer_factor=1.2), "equilibrium", price) == answer

    @pytest.mark.parametrize(("price", "answer"), [(8_000, ACCEPT), (8_000.01, REJECT), (12_000, REJECT)])
    def test_buyer_waits_to_name_the_last_price(self, price, answer):
        game = negotiation(rounds=2, seller_factor=0.8, buyer_factor=1.2)
        assert scripted_move(game, "equilibrium", price) == answer


class TestEquilibriumWithoutSurplus:
    @pytest.mark.parametrize("rounds", [1, 5, None])
    def test_names_own_value_and_walks_away_from_a_loss(self, rounds):
        play = match("equilibrium", "equilibrium", seller_factor=1.2, buyer_factor=0.8, rounds=rounds)
        assert [(p.price, p.answer) for p in play.state.proposals] == [(12_000, "walk_away")]

    def test_rejects_without_an_outside_option(self):
        game = negotiation(seller_factor=1.2, buyer_factor=0.8, outside_option=False)
        assert scripted_move(game, "equilibrium", 9_000) == REJECT

    def test_accepts_a_gain(self):
        assert scripted_move(negotiation(seller_factor=1.2, buyer_factor=0.8), "equilibrium", 7_000) == ACCEPT


class TestOtherEquilibria:
    @given(seller_factor=FACTORS, buyer_factor=FACTORS)
    def test_infinite_horizon_halves_the_surplus(self, seller_factor, buyer_factor):
        assume(seller_factor <= buyer_factor)
        play = match("equilibrium", "equilibrium", seller_factor=seller_factor, buyer_factor=buyer_factor, rounds=None)
        assert play.metrics()["rounds_played"] == 1
        assert play.metrics()["fairness"] == pytest.approx(1)
        assert play.metrics()["price"] == pytest.approx(5_000 * (seller_factor + buyer_factor))

    @given(
        seller_factor=FACTORS, buyer_factor=FACTORS, rounds=st.integers(1, 12) | st.none(),
        opponent=st.sampled_from(["equilibrium", "haggler", "random"]), seed=st.integers(0, 1000),
    )  # fmt: skip
    def test_never_loses_if_other_value_is_unknown(self, seller_factor, buyer_factor, rounds, opponent, seed):
        config = {"seller_factor": seller_factor, "buyer_factor": buyer_factor, "rounds": rounds}
        assert match("equilibrium", opponent, seed, complete_information=False, **config).payoffs()["alice"] >= 0
        assert match(opponent, "equilibrium", seed, complete_information=False, **config).payoffs()["bob"] >= 0

    def test_margin_halves_if_other_value_is_unknown(self):
        play = match(
            "equilibrium", "random", 4, seller_factor=1.0, complete_information=False, rounds=None, outside_option=False
        )
        prices = [proposal.price for proposal in play.state.proposals if proposal.by == "alice"]
        assert prices == [11_000, 10_500, 10_250, 10_125][: len(prices)]
        assert len(prices) > 1

    def test_names_own_value_in_the_last_round(self):
        play = match("equilibrium", "haggler", complete_information=False, rounds=1)
        assert play.state.proposals[0].price == 10_000

    @pytest.mark.parametrize("rounds", [10, None])
    def test_uninformed_players_trade_if_surplus_is_large_enough(self, rounds):
        play = match("equilibrium", "equilibrium", buyer_factor=1.2, complete_information=False, rounds=rounds)
        assert play.metrics()["trade"]

    def test_uninformed_players_give_up_without_a_surplus(self):
        play = match("equilibrium", "equilibrium", seller_factor=1.2, complete_information=False, rounds=None)
        assert play.state.walked_away_at
        assert play.metrics()["rounds_played"] < 20


class TestHaggler:
    @pytest.mark.parametrize(
        ("role", "expected"),
        [
            ("alice", [15_000, 14_000, 13_000, 12_000, 11_000, 10_000]),
            ("bob", [5_000, 6_000, 7_000, 8_000, 9_000, 10_000]),
        ],
    )
    def test_concedes_stepwise_down_to_own_value(self, role, expected):
        game = negotiation(rounds=None)
        play, _events = games.play.start(game, 1)
        while len(play.state.proposals) < 16:
            (mover,) = play.waiting_for()
            move = {"price": 1.0} if mover != role else games.play.script_move(play, role, "haggler")
            play, _events = games.play.submit(play, mover, REJECT if play.state.on_table else move)
        prices = [proposal.price for proposal in play.state.proposals if proposal.by == role]
        assert prices[:6] == expected
        assert set(prices[6:]) == {10_000}

    @pytest.mark.parametrize(
        ("prices", "answer"),
        [
            ([5_000], ACCEPT), ([5_001], REJECT), ([99_000, 1, 6_000], ACCEPT), ([99_000, 1, 6_001], REJECT),
            ([99_000, 1] * 5 + [10_000], ACCEPT), ([99_000, 1] * 5 + [10_001], REJECT),
        ],
    )  # fmt: skip
    def test_accepts_its_next_price(self, prices, answer):
        assert scripted_move(negotiation(rounds=None), "haggler", *prices) == answer

    @pytest.mark.parametrize(("price", "answer"), [(9_999, ACCEPT), (10_000, REJECT), (10_001, REJECT)])
    def test_accepts_any_gain_in_the_last_round(self, price, answer):
        assert scripted_move(negotiation(rounds=1), "haggler", price) == answer

    @given(seller_factor=FACTORS, buyer_factor=FACTORS, scale=st.floats(0.01, 1e9), seed=st.integers(0, 100))
    def test_never_loses(self, seller_factor, buyer_factor, scale, seed):
        config = {"seller_factor": seller_factor, "buyer_factor": buyer_factor, "scale": scale, "rounds": 12}
        assert match("haggler", "random", seed, **config).payoffs()["alice"] >= 0
        assert match("random", "haggler", seed, **config).payoffs()["bob"] >= 0

    def test_two_hagglers_trade_if_surplus_is_large_enough(self):
        assert match("haggler", "haggler", buyer_factor=1.2).metrics()["efficiency"] == 1

    @given(own_factor=FACTORS, changed_factor=FACTORS, seed=st.integers(0, 100))
    def test_messages_do_not_reveal_own_value(self, own_factor, changed_factor, seed):
        messages = [
            match("haggler", "random", seed, seller_factor=factor, rounds=1).state.proposals[0].message
            for factor in (own_factor, changed_factor)
        ]
        assert messages[0] == messages[1]
        assert messages[0]

    def test_writes_messages_only_if_allowed(self):
        assert match("haggler", "random", messages_allowed=False).state.proposals[0].message is None


class TestRandom:
    @given(seed=st.integers(0, 10_000), scale=st.floats(0.5, 1e9))
    def test_prices_are_in_cents_up_to_twice_own_value(self, seed, scale):
        price = match("random", "haggler", seed, scale=scale).state.proposals[0].price
        assert 0 <= price <= 2 * scale + 0.005
        assert round(price, 2) == price

    def test_gives_every_possible_answer(self):
        def answers(**config):
            games_played = [match("random", "random", seed, **config) for seed in range(300)]
            return [proposal.answer for play in games_played for proposal in play.state.proposals]

        with_option, without = answers(), answers(outside_option=False)
        assert set(with_option) == {"accept", "reject", "walk_away"}
        assert 0.05 < with_option.count("walk_away") / len(with_option) < 0.15
        assert set(without) == {"accept", "reject"}


class TestQuiz:
    @given(own_factor=FACTORS, other_factor=FACTORS, scale=st.sampled_from([1e2, 1e4, 1e6]) | st.floats(0.01, 1e6))
    def test_question_depends_only_on_own_value(self, own_factor, other_factor, scale):
        (question,) = negotiation(scale=scale, buyer_factor=own_factor, seller_factor=other_factor).quiz("bob")
        assert len(set(question.options)) == 4
        assert question.answer in question.options
        assert negotiation(scale=scale, buyer_factor=own_factor, complete_information=False).quiz("bob") == (question,)

    @given(factor=FACTORS, scale=st.sampled_from([1e2, 1e4, 1e6]) | st.floats(0.1, 1e6))
    def test_questions_before_play_depend_only_on_own_value(self, factor, scale):
        game = negotiation(scale=scale, seller_factor=factor)
        own, earnings, rejecting = game.comprehension("alice")
        assert (own,) == game.quiz("alice")
        assert len(earnings.options) == 4
        assert rejecting.answer.startswith("The player who rejected")
        hidden = negotiation(scale=scale, seller_factor=factor, buyer_factor=2 * factor, complete_information=False)
        assert hidden.comprehension("alice") == game.comprehension("alice")

    def test_options_are_ordered_and_answer_has_no_fixed_position(self):
        questions = [
            negotiation(seller_factor=factor, scale=scale).quiz("alice")[0]
            for factor in (0.8, 1.0, 1.2, 1.5)
            for scale in (1e2, 1e4, 1e6)
        ]
        assert {question.options.index(question.answer) for question in questions} == {1, 2}
        for question in questions:
            amounts = [float(option.strip("$").replace(",", "")) for option in question.options]
            assert amounts == sorted(amounts)
        assert negotiation(seller_factor=0.8).quiz("alice")[0].answer == "$8,000"
