"""The scripted players against theory and against each other."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games.play
from games.bargaining.baselines import proposer_share
from games.bargaining.rules import Bargaining, Proposal, Rounds

FACTORS = st.floats(0.05, 0.999)


def bargaining(**config) -> Bargaining:
    return games.play.configure(Bargaining, config)


def match(alice: str, bob: str, seed: int = 1, **config) -> games.play.Play:
    play, _events = games.play.start(bargaining(**config), seed)
    players = {"alice": alice, "bob": bob}
    while not play.over:
        (role,) = play.waiting_for()
        play, _events = games.play.submit(play, role, games.play.script_move(play, role, players[role]))
    return play


class TestEquilibriumShare:
    @pytest.mark.parametrize(
        ("own", "other", "left", "share"),
        [
            (0.9, 0.9, None, 1 / 1.9),
            (1.0, 1.0, None, 0.5),
            (0.9, 1.0, None, 0.0),
            (1.0, 0.9, None, 1.0),
            (0.5, 0.5, 1, 1.0),
            (0.9, 0.8, 2, 0.2),
            (0.9, 0.8, 3, 1 - 0.8 * (1 - 0.9)),
            (1.0, 1.0, 2, 0.0),
            (1.0, 1.0, 3, 1.0),
        ],
    )
    def test_known_values(self, own, other, left, share):
        assert proposer_share(own, other, left) == pytest.approx(share)

    @given(own=FACTORS, other=FACTORS, left=st.integers(1, 60))
    def test_the_one_who_answers_is_offered_exactly_what_waiting_is_worth(self, own, other, left):
        offered = 1 - proposer_share(own, other, left)
        waiting = other * proposer_share(other, own, left - 1) if left > 1 else 0
        assert offered == pytest.approx(waiting)

    @given(own=st.floats(0.05, 0.95), other=st.floats(0.05, 0.95))
    def test_a_long_horizon_comes_near_the_infinite_one(self, own, other):
        assert proposer_share(own, other, 801) == pytest.approx(proposer_share(own, other, None), abs=1e-6)


class TestEquilibriumPlayer:
    @given(delta_alice=FACTORS, delta_bob=FACTORS, rounds=st.integers(1, 20) | st.none())
    def test_two_of_them_agree_at_once_on_the_equilibrium_split(self, delta_alice, delta_bob, rounds):
        play = match("equilibrium", "equilibrium", delta_alice=delta_alice, delta_bob=delta_bob, rounds=rounds)
        assert play.metrics()["rounds_played"] == 1
        assert play.metrics()["alice_share"] == pytest.approx(proposer_share(delta_alice, delta_bob, rounds))

    @given(delta_alice=FACTORS, delta_bob=FACTORS, rounds=st.integers(2, 8), less=st.floats(0.01, 0.5))
    def test_it_rejects_less_than_waiting_is_worth(self, delta_alice, delta_bob, rounds, less):
        game = bargaining(delta_alice=delta_alice, delta_bob=delta_bob, rounds=rounds)
        due = delta_bob * proposer_share(delta_bob, delta_alice, rounds - 1)
        offered = max(0.0, due - less)
        state = Rounds((Proposal("alice", 10_000 * (1 - offered), 10_000 * offered),))
        answer = game.scripts["equilibrium"](game, state, "bob", Random(1))
        assert answer == {"decision": "reject" if offered < due - 1e-6 else "accept"}

    def test_without_knowing_the_other_it_takes_their_factor_for_its_own(self):
        play = match("equilibrium", "fair", delta_alice=0.8, delta_bob=0.95, complete_information=False, rounds=None)
        assert play.state.proposals[0].alice_gain == pytest.approx(10_000 / 1.8)


class TestHaggler:
    def test_it_comes_down_step_by_step_and_never_below_half(self):
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

    def test_two_of_them_agree(self):
        assert match("haggler", "haggler").metrics()["agreement"]

    def test_it_writes_where_messages_are_allowed_and_only_there(self):
        assert match("haggler", "fair").state.proposals[0].message
        assert match("haggler", "fair", messages_allowed=False).state.proposals[0].message is None


def test_fair_offers_half_and_takes_half():
    play = match("fair", "fair")
    assert play.metrics()["alice_share"] == 0.5
    assert match("random", "fair", seed=3).state.proposals[0].answer in {"accept", "reject"}


@given(seed=st.integers(0, 10_000), money=st.floats(0.5, 1e9))
def test_random_offers_are_legal_whatever_the_sum(seed, money):
    assert match("random", "random", seed=seed, money=money, rounds=4).over


@given(shown=st.sampled_from([0.8, 0.85, 0.9, 0.95, 1.0, 0.873]), hidden=FACTORS)
def test_the_quiz_asks_for_ones_own_rate_among_four_and_ignores_the_others(shown, hidden):
    (question,) = bargaining(delta_bob=shown, delta_alice=hidden).quiz("bob")
    assert len(set(question.options)) == 4
    assert question.answer in question.options
    assert question.answer == f"{100 * (1 - shown):.4g}%"
    assert bargaining(delta_bob=shown).quiz("bob") == (question,)
