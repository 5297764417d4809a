"""Strengths by the Bradley–Terry model against closed forms, another implementation and simulated matches."""

from __future__ import annotations

from itertools import permutations
from math import log
from random import Random

import numpy as np
import pytest

from analysis.toolbox import bradley_terry
from analysis.toolbox.bradley_terry import (
    ALONE,
    NO_TWO_ALIKE,
    NOT_CONNECTED,
    ONE_EFFECT,
    PENALISED,
    SEATS_AND_PLAYERS,
    WON_EVERYTHING,
)
from analysis.toolbox.dependence import ONE_UNIT_DOMINATES, TOO_FEW

A_WINS, B_WINS, B_WINS_FIRST = {"A": 9, "B": 3}, {"A": 3, "B": 9}, {"B": 9, "A": 3}


def played(strengths, *, pairs, seat=0.0, seed=1):
    """Return simulated matches between all players in every order, and the number of each match's round."""
    rng, matches, rounds = Random(seed), [], []
    for number in range(pairs):
        for one, two in permutations(strengths, 2):
            wins = rng.random() < 1 / (1 + np.exp(strengths[two] - strengths[one] - seat))
            matches.append({one: int(wins), two: int(not wins)})
            rounds.append(number)
    return matches, rounds


def test_two_players_have_the_log_odds_of_their_wins():
    rated = bradley_terry([A_WINS] * 9 + [B_WINS] * 3, seats=False)
    assert rated["A"]["strength"] == pytest.approx(log(3) / 2)
    assert rated["A"]["strength"] == pytest.approx(-rated["B"]["strength"])
    assert (rated["A"]["rank"], rated["A"]["rank_low"], rated["A"]["n"]) == (1, 1, 12)
    assert rated["A"]["low"] < log(3) / 2 < rated["A"]["high"]


def test_a_tie_is_half_a_win():
    rated = bradley_terry([A_WINS, {"A": 4, "B": 4}], seats=False)
    assert rated["A"]["strength"] == pytest.approx(log(3) / 2)


def test_seats_have_an_effect_of_their_own():
    first = [A_WINS] * 3 + [B_WINS] + [B_WINS_FIRST] * 3 + [{"B": 3, "A": 9}]
    rated = bradley_terry(first)
    assert rated["A"]["strength"] == pytest.approx(0, abs=1e-9)
    assert rated["seat_effect"]["estimate"] == pytest.approx(log(3))
    by_configuration = bradley_terry(
        [*first, A_WINS, B_WINS, B_WINS_FIRST, {"B": 3, "A": 9}], configuration="x" * 8 + "y" * 4
    )
    assert by_configuration["seat_effect"]["configurations"] == pytest.approx({"x": log(3), "y": 0}, abs=1e-7)
    assert by_configuration["seat_effect"]["estimate"] == pytest.approx(log(3) / 2)


def test_of_three_seats_the_first_is_compared_with_the_others():
    scores = ((3, 2, 1), (3, 2, 1), (1, 2, 3))
    rated = bradley_terry([dict(zip(order, match, strict=True)) for order in permutations("ABC") for match in scores])
    assert [rated[player]["strength"] for player in "ABC"] == pytest.approx([0, 0, 0], abs=1e-7)
    step = rated["seat_effect"]["estimate"] / 1.5
    expected_wins = sum(1 / (1 + np.exp(-difference)) for difference in (step, 2 * step))
    assert expected_wins == pytest.approx(4 / 3), "the first seat beats either other one twice out of three times"


def test_a_player_against_itself_tells_about_seats_only():
    itself = [[("A", 1), ("A", 0)]] * 3 + [[("A", 0), ("A", 1)]]
    rated = bradley_terry([*itself, *[[("A", 1), ("B", 0)], [("B", 1), ("A", 0)]] * 3, [("A", 0), ("B", 1)],
                           [("B", 0), ("A", 1)]])  # fmt: skip
    assert rated["A"]["strength"] == pytest.approx(0, abs=1e-7)
    assert rated["seat_effect"]["estimate"] == pytest.approx(log(3))


def test_estimates_agree_with_a_logistic_regression():
    statsmodels = pytest.importorskip("statsmodels.api")
    matches, _rounds = played({"A": 1.0, "B": 0.3, "C": 0.0, "D": -0.8}, pairs=8, seat=0.5)
    names = "ABCD"
    rows = [[(name == one) - (name == two) for name in names[1:]] + [1] for one, two in matches]
    wins = [scores[0] for match in matches for scores in [[*match.values()]]]
    found = statsmodels.Logit(wins, np.array(rows, dtype=float)).fit(disp=0).params
    strengths = np.array([0, *found[:3]]) - np.mean([0, *found[:3]])
    rated = bradley_terry(matches, draws=20)
    assert [rated[name]["strength"] for name in names] == pytest.approx(list(strengths), rel=1e-5)
    assert rated["seat_effect"]["estimate"] == pytest.approx(found[3], rel=1e-5)


@pytest.mark.parametrize("with_clusters", [True, False])
def test_the_order_of_matches_does_not_matter(with_clusters):
    matches, rounds = played({"A": 0.5, "B": 0.0, "C": -0.5}, pairs=10, seat=0.3)
    order = Random(2).sample(range(len(matches)), len(matches))
    rated = bradley_terry(matches, cluster=rounds if with_clusters else None, draws=100)
    shuffled = bradley_terry(
        [matches[i] for i in order], cluster=[rounds[i] for i in order] if with_clusters else None, draws=100
    )
    assert rated == shuffled


def test_configurations_and_clusters_may_be_keys_of_the_matches():
    matches, rounds = played({"A": 0.5, "B": -0.5}, pairs=12)
    labels = ["xy"[number % 2] for number in rounds]
    with_keys = [{**match, "seed": number, "rules": label}
                 for match, number, label in zip(matches, rounds, labels, strict=True)]  # fmt: skip
    rated = bradley_terry(with_keys, configuration="rules", cluster="seed", draws=50)
    assert rated == bradley_terry(matches, configuration=labels, cluster=rounds, draws=50)
    assert set(rated) == {"A", "B", "seat_effect"}


def test_who_wins_everything_has_a_rank_and_no_strength():
    others = [{"B": 1, "C": 0}, {"C": 1, "B": 0}, {"B": 0, "C": 1}, {"C": 0, "B": 1}]
    matches = [{"A": 1, "B": 0}, {"B": 0, "A": 1}, {"A": 1, "C": 0}, {"C": 0, "A": 1}, *others] * 3
    rated = bradley_terry(matches)
    assert (rated["A"]["strength"], rated["A"]["low"], rated["A"]["note"]) == (None, None, WON_EVERYTHING)
    assert (rated["A"]["rank"], rated["A"]["rank_low"], rated["A"]["rank_high"]) == (1, 1, 1)
    assert [rated[player]["strength"] for player in "BC"] == pytest.approx([0, 0], abs=1e-7)
    assert rated["B"]["low"] < 0 < rated["B"]["high"] and (rated["B"]["rank_low"], rated["B"]["rank_high"]) == (2, 3)
    strict = bradley_terry([{"A": 1, "B": 0}, {"B": 1, "C": 0}, {"A": 1, "C": 0}] * 3, seats=False)
    assert [(strict[p]["strength"], strict[p]["rank"], strict[p]["note"]) for p in "ABC"] == [
        (None, 1, NO_TWO_ALIKE), (None, 2, NO_TWO_ALIKE), (None, 3, NO_TWO_ALIKE)
    ]  # fmt: skip


def test_an_all_deciding_seat_has_a_penalised_effect_without_interval():
    effect = bradley_terry([A_WINS, B_WINS_FIRST] * 5)["seat_effect"]
    assert (effect["estimate"], effect["low"], effect["note"]) == (pytest.approx(log(11)), None, PENALISED)


def test_seats_that_cannot_be_told_from_players_have_no_effect():
    always = bradley_terry([A_WINS, B_WINS, A_WINS] * 3)
    assert always["seat_effect"]["estimate"] is None and always["seat_effect"]["note"] == SEATS_AND_PLAYERS
    assert always["A"]["strength"] == pytest.approx(log(2) / 2)
    matches = [A_WINS, B_WINS, B_WINS_FIRST, {"B": 3, "A": 9}, {"A": 1, "C": 0}, {"A": 0, "C": 1}]
    rated = bradley_terry(matches * 2, configuration="aaaabb" * 2)
    assert rated["seat_effect"]["note"] == ONE_EFFECT
    assert set(rated["seat_effect"]["configurations"]) == {""}


def test_only_the_largest_connected_group_is_rated():
    rated = bradley_terry([{"A": 1, "B": 0}, {"B": 1, "C": 0}, {"C": 1, "A": 0}, {"X": 1, "Y": 0}] * 5)
    assert [rated[p]["note"] for p in "XY"] == [NOT_CONNECTED] * 2 and rated["X"]["rank"] is None
    assert rated["A"]["rank"] == 1 and rated["A"]["strength"] == pytest.approx(0, abs=1e-7)


@pytest.mark.parametrize("matches", [[], [{}], [{"A": 1}], [{"A": None, "B": 1}], [{"A": float("nan"), "B": "x"}]])
def test_without_comparisons_nothing_is_rated(matches):
    rated = bradley_terry(matches)
    assert rated.pop("seat_effect")["note"] == ALONE
    assert all(player["strength"] is None and player["note"] == ALONE for player in rated.values())


def test_few_or_unequal_clusters_allow_no_interval():
    matches = [A_WINS, B_WINS, A_WINS] * 4
    for labels, note in (("aaabbbcccddd", TOO_FEW), ("aaaaaaabcdef", ONE_UNIT_DOMINATES)):
        rated = bradley_terry(matches, seats=False, cluster=labels)
        assert (rated["A"]["strength"], rated["A"]["note"]) == (pytest.approx(log(2) / 2), note)
        assert rated["A"]["low"] is rated["A"]["rank_low"] is None


def test_an_interval_is_the_jackknifes_with_t():
    wins = [(3, 1), (2, 2), (4, 0), (1, 3), (3, 1), (2, 2)]
    matches = [match for won, lost in wins for match in [A_WINS] * won + [B_WINS] * lost]
    rated = bradley_terry(matches, seats=False, cluster=[number for number in range(6) for _match in range(4)])
    without = [log((15 - won) / (9 - lost)) / 2 for won, lost in wins]
    half = 2.570582 * np.sqrt(5 / 6 * sum((value - log(15 / 9) / 2) ** 2 for value in without))
    assert rated["A"]["high"] - rated["A"]["strength"] == pytest.approx(half, rel=1e-5)
    assert rated["A"]["strength"] - rated["A"]["low"] == pytest.approx(half, rel=1e-5)


def test_intervals_of_many_units_are_those_of_the_model():
    """The information of 4,000 independent matches between two players gives the error; groups estimate it well."""
    rng = Random(3)
    matches = [A_WINS if rng.random() < 0.6 else B_WINS for _match in range(4_000)]
    rated = bradley_terry(matches, seats=False, draws=200)
    p = sum(match == A_WINS for match in matches) / 4_000
    error = 1 / np.sqrt(4_000 * p * (1 - p)) / 2
    assert (rated["A"]["high"] - rated["A"]["low"]) / 2 == pytest.approx(1.972 * error, rel=0.15)
    assert rated["A"]["clusters"] == 4_000


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [5, 6, 10, 20, 40])
@pytest.mark.parametrize("strengths", [(0.875, 0.375, -0.125, -1.125), (0.2, 0.1, 0.0, -0.3)])
def test_intervals_cover_the_strengths_and_ranks(strengths, clusters):
    covered, ranked, effects = [], [], []
    for seed in range(200):
        of_players = dict(zip("ABCD", strengths, strict=True))
        matches, rounds = played(of_players, pairs=clusters, seat=0.4, seed=seed)
        rated = bradley_terry(matches, cluster=rounds, draws=300, seed=seed)
        effect = rated.pop("seat_effect")
        effects += [effect["low"] <= 0.4 <= effect["high"]] if effect["low"] is not None else []
        for rank, (name, strength) in enumerate(of_players.items(), start=1):
            found = rated[name]
            covered += [found["low"] <= strength <= found["high"]] if found["low"] is not None else []
            ranked += [found["rank_low"] <= rank <= found["rank_high"]] if found["rank_low"] is not None else []
    assert min(len(covered), len(ranked), 4 * len(effects)) > 700, "intervals are rarely missing"
    assert np.mean(covered) > 0.92 and np.mean(ranked) > 0.92 and np.mean(effects) > 0.92
