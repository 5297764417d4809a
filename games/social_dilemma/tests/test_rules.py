"""The rules against the specification's worked cases, and properties of every dilemma."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.errors import BadConfig, Refused
from games.play import configure, start, submit
from games.social_dilemma.base_games import PUBLISHED, words
from games.social_dilemma.designs import played_profile, quality_of_contract, standard_contract, with_payments
from games.social_dilemma.rules import SocialDilemma
from games.tests.kit import finished


def dilemma(**config) -> SocialDilemma:
    return configure(SocialDilemma, config)


def play_after(game: SocialDilemma, *turns: tuple, seed: int = 1):
    """Return the play after these turns, each with one move per seat; a string is an action."""
    play, _events = start(game, seed)
    for turn in turns:
        for role, move in zip(game.roles(), turn, strict=True):
            play, _events = submit(play, role, {"action": move} if isinstance(move, str) else move)
    return play


def test_travelers_dilemma_pays_the_lower_claim_and_a_reward():
    play = play_after(dilemma(base_game="travelers_dilemma"), ("A2", "A1"))
    assert play.payoffs() == {"p1": 1, "p2": 5}


def test_contribution_is_shared_by_all():
    play = play_after(dilemma(base_game="public_goods"), ("A0", "A1", "A1"))
    assert play.payoffs() == {"p1": 0.5, "p2": 1.5, "p3": 1.5}
    assert play.metrics()["normalised_score"] == pytest.approx(1 / 3)


def test_later_rounds_have_less_weight():
    game = dilemma(mechanism="repetition", rounds=4, continuation=0.5)
    play = play_after(game, ("A0", "A0"), ("A0", "A1"), ("A1", "A0"), ("A1", "A1"))
    assert play.payoffs() == {"p1": 1.5, "p2": 1.875}
    metrics = play.metrics()
    assert metrics["normalised_score"] == 0.6875
    assert (metrics["coop_after_coop"], metrics["coop_after_other"]) == (0.5, 0)


def test_population_is_rematched_in_every_round():
    game = dilemma(mechanism="reputation_first_order", population=2, matching="rotation", rounds=2, continuation=0.8)
    play = play_after(game, ("A0", "A1", "A0", "A0"), ("A1", "A0", "A0", "A1"))
    assert play.state.rounds[1].groups == (("p1", "p4"), ("p3", "p2"))
    assert play.payoffs() == pytest.approx({"p1": 0.8, "p2": 2.2, "p3": 2, "p4": 1.2})
    metrics = play.metrics()
    assert metrics["cooperation_rate"] == 0.625
    assert metrics["coop_after_coop"] == pytest.approx(1 / 3)
    assert metrics["coop_after_other"] == 1


def test_all_delegators_play_the_mediators_action():
    game = dilemma(base_game="public_goods", mechanism="mediation")
    mediator = {"mediator": {"1": "A1", "2": "A0", "3": "A0"}}
    all_yes = {"approve": {"M1": True, "M2": False, "M3": False}}
    play = play_after(game, (mediator,) * 3, (all_yes,) * 3, ("delegate", "delegate", "A1"))
    assert play.payoffs() == {"p1": 1, "p2": 1, "p3": 2}
    metrics = play.metrics()
    assert metrics["design_nash"] is False
    assert metrics["delegation_rate"] == pytest.approx(2 / 3)
    assert (metrics["winner"], metrics["winner_approvals"], metrics["approval_rate"]) == (1, 3, 1 / 3)


def test_contract_signed_by_all_pays_for_actions():
    game = dilemma(base_game="stag_hunt", mechanism="contract")
    contract, votes = {"contract": {"A0": 1, "A1": -1}}, {"approve": {"C1": True, "C2": False}}
    play = play_after(game, (contract,) * 2, (votes,) * 2, ({"sign": True},) * 2, ("A0", "A1"))
    assert play.payoffs() == {"p1": 2, "p2": 1}
    metrics = play.metrics()
    assert (metrics["design_nash"], metrics["design_dominant"]) == (True, False)
    assert (metrics["signatures"], metrics["contract_active"]) == (2, True)


def test_contract_refused_by_one_player_is_void():
    game = dilemma(base_game="stag_hunt", mechanism="contract")
    contract, votes = {"contract": {"A0": 1, "A1": -1}}, {"approve": {"C1": True, "C2": False}}
    play = play_after(game, (contract,) * 2, (votes,) * 2, ({"sign": True}, {"sign": False}), ("A0", "A1"))
    assert play.payoffs() == {"p1": 0, "p2": 3}
    assert play.metrics()["contract_active"] is False


def test_drawn_match_pays_its_last_round():
    game = dilemma(mechanism="repetition", rounds=5, stopping="drawn", stop_after=2)
    play = play_after(game, ("A0", "A0"), ("A1", "A0"))
    assert play.over
    assert play.payoffs() == {"p1": 3, "p2": 0}


def test_percentages_result_in_one_action():
    game = dilemma()
    play = play_after(game, ({"percentages": {"A0": 100, "A1": 0}}, {"percentages": {"A0": 50, "A1": 50}}))
    assert play.payoffs() in ({"p1": 2, "p2": 2}, {"p1": 0, "p2": 3})
    repeated = play_after(game, ({"percentages": {"A0": 100, "A1": 0}}, {"percentages": {"A0": 50, "A1": 50}}))
    assert repeated.payoffs() == play.payoffs()


def test_published_stopping_is_never_played_by_people():
    assert dilemma(mechanism="repetition", stopping="published").people() == ()
    assert dilemma(mechanism="repetition", stopping="weighted").people() == ("p1", "p2")


@pytest.mark.parametrize(
    "move",
    [
        {"percentages": {"A0": 60, "A1": 60}}, {"percentages": {"A0": 100}}, {"percentages": {"A0": 50.5, "A1": 49.5}},
        {"percentages": {"A0": True, "A1": 99}}, {"percentages": {"A0": 50, "A1": 50, "A2": 0}},
        {"action": "A0", "percentages": {"A0": 50, "A1": 50}}, {"action": "A7"}, {"action": "delegate"},
        {"sign": True}, {},
    ],
)  # fmt: skip
def test_invalid_move_is_refused(move):
    play, _events = start(dilemma(), 1)
    with pytest.raises(Refused):
        submit(play, "p1", move)


@pytest.mark.parametrize("contract", [{"A0": 6, "A1": 0}, {"A0": 1}, {"A0": 0.5, "A1": 0}, {"A0": True, "A1": 0}])
def test_contract_beyond_the_bound_is_refused(contract):
    play, _events = start(dilemma(base_game="stag_hunt", mechanism="contract"), 1)
    with pytest.raises(Refused):
        submit(play, "p1", {"contract": contract})


CUSTOM_GAME = {"actions": [2, 2], "payoffs": {"0,0": [4, 4], "0,1": [0, 5], "1,0": [5, 0], "1,1": [1, 1]}}
POPULATION = {"mechanism": "reputation_first_order", "population": 2}


@pytest.mark.parametrize(
    ("change", "expected_text"),
    [
        ({"payoffs": {"0,0": [4, 4], "0,1": [0, 5], "1,0": [5, 0]}}, "“1,1”"),
        ({"payoffs": {**CUSTOM_GAME["payoffs"], "2,0": [1, 1]}}, "“2,0”"),
        ({"payoffs": {**CUSTOM_GAME["payoffs"], "1,1": [1]}}, "“1,1”"),
        ({"actions": [10] * 6}, "10000"),
        ({"actions": [11, 2]}, "at most 10"),
        ({"cooperate": [0, 2]}, "cooperate"),
        ({"reference": {"nash": 1, "cooperative": 1}}, "differ"),
    ],
)
def test_invalid_custom_game_is_refused_with_its_error(change, expected_text):
    with pytest.raises(BadConfig, match=expected_text):
        dilemma(base_game="custom", custom_game={**CUSTOM_GAME, **change})


@pytest.mark.parametrize(
    "config",
    [
        {"base_game": "custom"},
        {"custom_game": CUSTOM_GAME},
        {"rounds": 3, "stop_after": 4},
        {**POPULATION, "rounds": 1, "schedule": [[["p1", "p3"], ["p2", "p4"]]]},
        {**POPULATION, "rounds": 2, "schedule": [[["p1", "p2"], ["p3", "p4"]]]},
    ],
)
def test_contradictory_configuration_is_refused(config):
    with pytest.raises(BadConfig):
        dilemma(**config)


def test_standard_contract_has_the_smallest_sufficient_payment():
    base = PUBLISHED["prisoners_dilemma"]
    contract = standard_contract(base, 0, 3)
    assert quality_of_contract(base, contract).dominant
    assert not quality_of_contract(base, {**contract, 0: contract[0] - 1}).dominant


@given(st.sampled_from(sorted(PUBLISHED)), st.lists(st.integers(-9, 9), min_size=4, max_size=4))
def test_payments_sum_to_zero(name, payments):
    base = PUBLISHED[name]
    contract = dict(enumerate(payments))
    for profile, points in base.payoffs.items():
        assert sum(with_payments(base, contract, profile)) == pytest.approx(sum(points))


@given(st.integers(0, 1), st.integers(0, 1), st.integers(0, 1), st.lists(st.integers(0, 2), min_size=3, max_size=3))
def test_mediator_acts_by_number_of_delegators(for_one, for_two, for_three, choices):
    base, mediator = PUBLISHED["public_goods"], {1: for_one, 2: for_two, 3: for_three}
    actions = played_profile(base, mediator, tuple(choices))
    delegators = choices.count(2)
    for choice, action in zip(choices, actions, strict=True):
        assert action == (mediator[delegators] if choice == 2 else choice)


@given(st.integers(1, 100), st.floats(0.01, 0.99))
def test_weights_sum_to_one(rounds, delta):
    game = dilemma(mechanism="repetition", rounds=rounds, continuation=delta)
    assert sum(game.weights(rounds)) == pytest.approx(1)


@given(st.integers(0, 10_000), st.sampled_from(["random", "rotation"]), st.integers(2, 5))
def test_every_round_seats_everybody_once_by_position(seed, matching, population):
    game = dilemma(
        base_game="public_goods", mechanism="reputation_higher_order", population=population, matching=matching,
        rounds=4,
    )  # fmt: skip
    play, _events = start(game, seed)
    rng = Random(seed)
    while not play.over:
        groups = play.state.groups
        assert sorted(role for group in groups for role in group) == sorted(game.roles())
        assert all([game.position(role) for role in group] == [0, 1, 2] for group in groups)
        for role in play.waiting_for():
            play, _events = submit(play, role, {"action": rng.choice(["A0", "A1"])})


@given(
    st.integers(0, 10_000),
    st.sampled_from(["repetition", "reputation_first_order", "mediation", "contract"]),
    st.randoms(use_true_random=False),
)
def test_draws_do_not_depend_on_the_order_of_moves(seed, mechanism, order_rng):
    game = dilemma(mechanism=mechanism, rounds=3, population=2, stopping="drawn")
    results = []
    for shuffled in (False, True):
        play, _events = start(game, seed)
        while not play.over:
            rng, roles = Random(len(play.state.rounds)), list(play.waiting_for())
            moves = {role: game.scripts["random"](game, play.state, role, rng) for role in roles}
            for role in order_rng.sample(roles, len(roles)) if shuffled else roles:
                play, _events = submit(play, role, moves[role])
        results.append((play.state, play.payoffs()))
    assert results[0] == results[1]


def test_drawn_matches_continue_with_the_stated_chance():
    game = dilemma(mechanism="repetition", rounds=3, stopping="drawn", continuation=0.7)
    lengths = []
    for seed in range(400):
        play = finished(game, "always_cooperate", seed=seed)
        lengths.append(len(play.state.rounds))
        assert play.payoffs() == {"p1": 2, "p2": 2}
    assert max(lengths) == 3
    assert sum(length > 1 for length in lengths) / 400 == pytest.approx(0.7, abs=0.08)
    assert sum(length > 2 for length in lengths) / 400 == pytest.approx(0.49, abs=0.08)


@pytest.mark.parametrize("points", [["x", 5], [True, 5], [float("nan"), 5], [1e7, 5], [None, 5], 5])
def test_non_numeric_points_are_refused_with_their_profile(points):
    with pytest.raises(BadConfig, match=r"0,1"):
        dilemma(base_game="custom", custom_game={**CUSTOM_GAME, "payoffs": {**CUSTOM_GAME["payoffs"], "0,1": points}})


def test_pure_equilibria_of_the_published_games():
    equilibria = {name: base.equilibria() for name, base in PUBLISHED.items()}
    assert equilibria["prisoners_dilemma"] == [(1, 1)]
    assert equilibria["public_goods"] == [(1, 1, 1)]
    assert equilibria["travelers_dilemma"] == [(0, 0)]
    assert equilibria["stag_hunt"] == [(0, 0), (1, 1)]
    assert equilibria["matching_pennies"] == []


# ---- designs: refusals, choice and payoffs ---------------------------------------------------------------

ZEROS = {"contract": {"A0": 0, "A1": 0}}


@pytest.mark.parametrize(
    ("mechanism", "earlier_moves", "move"),
    [
        ("contract", (), {"contract": {"A0": 1, "A1": 0, "A2": 0}}),
        ("contract", (), {"approve": {"C1": True, "C2": True}}),
        ("contract", (ZEROS,), {"approve": {"C1": True}}),
        ("contract", (ZEROS,), {"approve": {"C1": True, "C2": True, "C3": True}}),
        ("contract", (ZEROS,), {"approve": {"C1": 1, "C2": 0}}),
        ("contract", (ZEROS,), {"approve": {"M1": True, "M2": False}}),
        ("contract", (ZEROS, {"approve": {"C1": True, "C2": False}}), {"sign": 1}),
        ("contract", (ZEROS, {"approve": {"C1": True, "C2": False}}), {"action": "A0"}),
        ("mediation", (), {"mediator": {"1": "A0"}}),
        ("mediation", (), {"mediator": {"1": "A0", "2": "A0", "3": "A0"}}),
        ("mediation", (), {"mediator": {"1": "A0", "2": "delegate"}}),
        ("mediation", (), {"mediator": {"1": 0, "2": "A0"}}),
    ],
)
def test_move_of_another_step_is_refused(mechanism, earlier_moves, move):
    game = dilemma(mechanism=mechanism)
    play = play_after(game, *((earlier_move, earlier_move) for earlier_move in earlier_moves))
    with pytest.raises(Refused):
        submit(play, "p1", move)


@pytest.mark.parametrize("votes", [{"C1": False, "C2": False}, {"C1": True, "C2": True}])
def test_tied_approvals_are_drawn_even_without_approvals(votes):
    game = dilemma(mechanism="contract")
    winners = [play_after(game, (ZEROS,) * 2, ({"approve": votes},) * 2, seed=seed).state.winner for seed in range(60)]
    assert 15 < winners.count(1) < 45
    assert set(winners) == {1, 2}


def test_default_contract_bound_is_the_largest_payoff_rounded_down():
    assert dilemma(mechanism="contract", base_game="public_goods").contract_bound == 2
    assert dilemma(mechanism="contract", base_game="trust").contract_bound == 20
    low_payoffs = {"actions": [2, 2], "payoffs": {key: [0.5, -0.25] for key in CUSTOM_GAME["payoffs"]}}
    assert dilemma(mechanism="contract", base_game="custom", custom_game=low_payoffs).contract_bound == 1
    assert dilemma(mechanism="contract", contract_bound=0).contract_bound == 0


def test_bonus_share_follows_the_base_games_payoff_range():
    game = dilemma(base_game="trust")
    assert [game.bonus_share("p1", points) for points in (-5, 0, 5, 10, 30)] == [0, 0, 0.5, 1, 1]
    assert [game.bonus_share("p2", points) for points in (2, 11, 20, 99)] == [0, 0.5, 1, 1]
    flat = {"actions": [2, 2], "payoffs": {key: [1, 2] for key in CUSTOM_GAME["payoffs"]}}
    assert dilemma(base_game="custom", custom_game=flat).bonus_share("p1", 1) == 0.5


def test_metrics_are_empty_without_cooperative_actions_or_references():
    play = play_after(dilemma(base_game="custom", custom_game=CUSTOM_GAME, mechanism="contract"), *[(ZEROS,) * 2])
    for move in ({"approve": {"C1": True, "C2": False}}, {"sign": True}, {"action": "A1"}):
        for role in ("p1", "p2"):
            play, _events = submit(play, role, move)
    metrics = play.metrics()
    empty = "normalised_score cooperation_rate coop_after_coop coop_after_other design_nash design_dominant".split()
    assert all(metrics[key] is None for key in empty)
    assert metrics["contract_active"] is True


@pytest.mark.parametrize(
    ("config", "labels"),
    [
        ({}, ("A0", "A1")),
        ({"framing": "letters"}, ("A", "B")),
        ({"framing": "words"}, ("A", "B")),
        ({"framing": "words", "base_game": "public_goods"}, ("put in", "keep")),
        ({"framing": "words", "base_game": "trust"}, ("send", "keep")),
        ({"framing": "words", "base_game": "travelers_dilemma"}, ("claim 2", "claim 3", "claim 4", "claim 5")),
        ({"framing": "words", "base_game": "trust", "action_names": ["green", "blue"]}, ("green", "blue")),
    ],
)
def test_framing_names_the_actions(config, labels):
    game = dilemma(**config)
    assert game.labels(game.actions("p1")) == labels
    assert all(label in game.instructions("p1") for label in labels)


@pytest.mark.parametrize("name", [name for name in PUBLISHED if words(name)])
def test_every_action_of_a_published_game_has_a_word(name):
    assert len(words(name)) == max(PUBLISHED[name].actions)


def test_page_names_the_percentage_that_is_wrong():
    with pytest.raises(Refused) as refused:
        play_after(dilemma(framing="letters"), ({"percentages": {"A0": -5, "A1": 50}},))
    assert "“Chance of A, in percent”" in refused.value.plain
