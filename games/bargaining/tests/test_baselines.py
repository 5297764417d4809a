"""The scripted players against theory and against each other."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games.play
from games.bargaining.baselines import proposer_share
from games.bargaining.rules import Bargaining
from games.bargaining.state import Proposal, Rounds
from games.tests.kit import finished, payoff_after, played

FACTORS = st.floats(0.05, 0.999)
DELTAS = FACTORS | st.just(1.0)


def bargaining(**config) -> Bargaining:
    return games.play.configure(Bargaining, config)


def match(alice: str, bob: str, seed: int = 1, **config) -> games.play.Play:
    return finished(bargaining(**config), alice, bob, seed=seed)


def start_of_round(game: Bargaining, number: int) -> games.play.Play:
    """Return a play in which all offers before round `number` were rejected."""
    return played(game, *[{"alice_gain": 5000, "bob_gain": 5000}, {"decision": "reject"}] * (number - 1))


class TestEquilibriumShare:
    @pytest.mark.parametrize(
        ("own_factor", "other_factor", "rounds_left", "share"),
        [
            (0.9, 0.9, None, 1 / 1.9), (1.0, 1.0, None, 0.5), (0.9, 1.0, None, 0.0), (1.0, 0.9, None, 1.0),
            (0.5, 0.5, 1, 1.0), (0.9, 0.8, 2, 0.2), (0.9, 0.8, 3, 1 - 0.8 * (1 - 0.9)), (1.0, 1.0, 2, 0.0),
            (1.0, 1.0, 3, 1.0),
        ],
    )  # fmt: skip
    def test_known_values(self, own_factor, other_factor, rounds_left, share):
        assert proposer_share(own_factor, other_factor, rounds_left) == pytest.approx(share)

    @given(own_factor=FACTORS, other_factor=FACTORS, rounds_left=st.integers(1, 60))
    def test_responder_is_offered_its_continuation_value(self, own_factor, other_factor, rounds_left):
        offered = 1 - proposer_share(own_factor, other_factor, rounds_left)
        waiting = other_factor * proposer_share(other_factor, own_factor, rounds_left - 1) if rounds_left > 1 else 0
        assert offered == pytest.approx(waiting)

    @given(own_factor=st.floats(0.05, 0.95), other_factor=st.floats(0.05, 0.95))
    def test_long_horizon_approaches_infinite_horizon(self, own_factor, other_factor):
        assert proposer_share(own_factor, other_factor, 801) == pytest.approx(
            proposer_share(own_factor, other_factor, None), abs=1e-6
        )


class TestEquilibriumPlayer:
    @given(delta_alice=FACTORS, delta_bob=FACTORS, rounds=st.integers(1, 20) | st.none())
    def test_two_equilibrium_players_agree_in_the_first_round(self, delta_alice, delta_bob, rounds):
        play = match("equilibrium", "equilibrium", delta_alice=delta_alice, delta_bob=delta_bob, rounds=rounds)
        assert play.metrics()["rounds_played"] == 1
        assert play.metrics()["alice_share"] == pytest.approx(proposer_share(delta_alice, delta_bob, rounds))

    @given(delta_alice=FACTORS, delta_bob=FACTORS, rounds=st.integers(2, 8), shortfall=st.floats(0.01, 0.5))
    def test_offer_below_continuation_value_is_rejected(self, delta_alice, delta_bob, rounds, shortfall):
        game = bargaining(delta_alice=delta_alice, delta_bob=delta_bob, rounds=rounds)
        continuation = delta_bob * proposer_share(delta_bob, delta_alice, rounds - 1)
        offered = max(0.0, continuation - shortfall)
        state = Rounds((Proposal("alice", 10_000 * (1 - offered), 10_000 * offered),))
        answer = game.scripts["equilibrium"](game, state, "bob", Random(1))
        assert answer == {"decision": "reject" if offered < continuation - 1e-6 else "accept"}

    @given(
        delta_alice=DELTAS, delta_bob=DELTAS, rounds=st.integers(1, 8) | st.none(), played=st.integers(0, 3),
        share=st.floats(0, 1),
    )  # fmt: skip
    def test_no_single_deviation_pays(self, delta_alice, delta_bob, rounds, played, share):
        if rounds is not None and played >= rounds:
            return
        game = bargaining(delta_alice=delta_alice, delta_bob=delta_bob, rounds=rounds)
        play = start_of_round(game, played + 1)
        (proposer,) = play.waiting_for()
        deviation = {"alice_gain": share * 10_000, "bob_gain": (1 - share) * 10_000}
        assert payoff_after(play, proposer, deviation) <= payoff_after(play, proposer) + 0.01

        offered, _events = games.play.submit(play, proposer, deviation)
        (answerer,) = offered.waiting_for()
        for decision in ("accept", "reject"):
            assert payoff_after(offered, answerer, {"decision": decision}) <= payoff_after(offered, answerer) + 0.01

    def test_unknown_factor_is_assumed_equal_to_own(self):
        play = match("equilibrium", "fair", delta_alice=0.8, delta_bob=0.95, complete_information=False, rounds=None)
        assert play.state.proposals[0].alice_gain == pytest.approx(10_000 / 1.8)


class TestHaggler:
    def test_demands_fall_stepwise_to_one_half(self):
        play, _events = games.play.start(bargaining(rounds=30), 1)
        demands = []
        while not play.over:
            (role,) = play.waiting_for()
            if role == "bob":
                move = {"decision": "reject"} if play.state.on_table else {"alice_gain": 0, "bob_gain": 10_000}
            else:
                move = games.play.script_move(play, "alice", "haggler")
                if "alice_gain" in move:
                    demands.append(move["alice_gain"])
            if role == "alice" and play.state.on_table:
                move = {"decision": "reject"}
            play, _events = games.play.submit(play, role, move)
        assert demands[0] == 8000
        assert demands == sorted(demands, reverse=True)
        assert demands[-1] == 5000

    @given(factor=DELTAS, other_factor=DELTAS, seed=st.integers(0, 100))
    def test_messages_and_offers_do_not_reveal_own_factor(self, factor, other_factor, seed):
        games_played = [match("haggler", "haggler", seed=seed, delta_alice=delta) for delta in (factor, other_factor)]
        assert games_played[0].state == games_played[1].state

    @pytest.mark.parametrize(
        ("rounds_played", "gain", "decision"),
        [(0, 7400, "accept"), (0, 7390, "reject"), (12, 5000, "accept"), (12, 4990, "reject"), (29, 1, "accept")],
    )
    def test_accepts_its_next_demand_and_anything_in_the_last_round(self, rounds_played, gain, decision):
        rejected = [
            Proposal(("bob", "alice")[number % 2], 5000, 5000, answer="reject") for number in range(rounds_played)
        ]
        state = Rounds((*rejected, Proposal("bob", gain, 10_000 - gain)))
        game = bargaining(rounds=30)
        assert game.scripts["haggler"](game, state, "alice", Random(1)) == {"decision": decision}

    def test_two_hagglers_agree(self):
        assert match("haggler", "haggler").metrics()["agreement"]

    def test_writes_messages_only_if_allowed(self):
        assert match("haggler", "fair").state.proposals[0].message
        assert match("haggler", "fair", messages_allowed=False).state.proposals[0].message is None


class TestFair:
    def test_offers_half(self):
        assert match("fair", "fair").metrics()["alice_share"] == 0.5

    @pytest.mark.parametrize(
        ("offered", "decision"), [(5000, "accept"), (5000.01, "accept"), (4999.9, "reject"), (0, "reject")]
    )
    def test_accepts_half_or_more_of_the_undiscounted_money(self, offered, decision):
        game = bargaining(delta_bob=0.1)
        state = Rounds((Proposal("alice", 10_000 - offered, offered),))
        assert game.scripts["fair"](game, state, "bob", Random(1)) == {"decision": decision}


@given(seed=st.integers(0, 10_000), money=st.floats(0.5, 1e9))
def test_random_offers_are_legal_for_any_amount(seed, money):
    assert match("random", "random", seed=seed, money=money, rounds=4).over


@given(seed=st.integers(0, 10_000), money=st.sampled_from([1e2, 1e4, 1e6]))
def test_random_offers_are_in_cents_and_add_up_exactly(seed, money):
    offer = match("random", "fair", seed=seed, money=money).state.proposals[0]
    assert offer.alice_gain + offer.bob_gain == money
    assert all(round(gain, 2) == gain for gain in (offer.alice_gain, offer.bob_gain))


@given(own_factor=st.sampled_from([0.8, 0.85, 0.9, 0.95, 1.0, 0.873]), other_factor=FACTORS)
def test_quiz_depends_only_on_own_factor(own_factor, other_factor):
    (question,) = bargaining(delta_bob=own_factor, delta_alice=other_factor).quiz("bob")
    assert len(set(question.options)) == 4
    assert question.answer in question.options
    assert question.answer == f"{100 * (1 - own_factor):.4g}%"
    assert bargaining(delta_bob=own_factor).quiz("bob") == (question,)
