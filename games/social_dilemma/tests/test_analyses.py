"""Tournaments: the meta-game of the matches played, and its analysis by the toolbox."""

from __future__ import annotations

from itertools import product
from random import Random
from statistics import fmean

import numpy as np
import pytest

from analysis import toolbox
from games import play
from games.social_dilemma.analyses import results, tournament
from games.social_dilemma.evolution import meta_game
from games.social_dilemma.rules import SocialDilemma


def test_meta_game_averages_repetitions_and_seat_orders():
    outcomes = [
        (("a", "a"), (2, 2)), (("a", "b"), (0, 3)), (("a", "b"), (2, 5)), (("b", "a"), (6, 3)), (("b", "b"), (1, 3)),
    ]  # fmt: skip
    payoffs = meta_game(outcomes, ("a", "b"))
    assert payoffs is not None
    # a against b: (0 + 2)/2 in the first seat, 3 in the second.
    assert payoffs == pytest.approx(np.array([[2, 2], [5, 2]]))


def test_no_meta_game_if_some_types_never_met():
    assert meta_game([(("a", "a"), (2, 2)), (("a", "b"), (0, 3))], ("a", "b")) is None


def test_tournament_reports_cooperation_and_dynamics():
    game = play.configure(SocialDilemma, {})
    assert isinstance(game, SocialDilemma)
    cooperates = {"kind": True, "mean": False}
    matches = []
    for first, second in product(cooperates, repeat=2):
        profile = tuple(0 if cooperates[label] else 1 for label in (first, second))
        matches.append(
            {
                "agents": {"p1": first, "p2": second},
                "payoffs": dict(zip(("p1", "p2"), game.base.payoffs[profile], strict=True)),
                "records": [
                    {"role": role, "cooperated": cooperates[label]} for role, label in (("p1", first), ("p2", second))
                ],
            }
        )
    outcome = tournament(game, matches)
    assert outcome.cooperation == {"kind": 1, "mean": 0}
    assert outcome.mean_payoff == {"kind": 1, "mean": 2}
    assert outcome.meta == pytest.approx(np.array([[2, 0], [3, 1]]))
    assert outcome.score == pytest.approx(0, abs=1e-4)
    assert outcome.ratings == pytest.approx({"kind": -1, "mean": 0}, abs=1e-6)


def test_three_seat_tournament_matches_the_toolbox():
    game = play.configure(SocialDilemma, {"base_game": "public_goods"})
    assert isinstance(game, SocialDilemma)
    rng = Random(17)
    matches = [
        {
            "agents": dict(zip(game.roles(), labels, strict=True)),
            "payoffs": {role: rng.uniform(0, 2) for role in game.roles()},
            "records": [],
        }
        for labels in product("abc", repeat=3)
        for _repetition in range(2)
    ]
    outcome = tournament(game, matches)
    assert outcome.meta is not None and outcome.path is not None
    dynamics = toolbox.replicator(outcome.meta)
    assert outcome.path[-1] == pytest.approx(dynamics["population"], abs=1e-12)
    assert len(outcome.path) == dynamics["steps"] + 1
    assert outcome.score == pytest.approx((dynamics["average"] - 1) / 0.5)
    assert list(outcome.ratings.values()) == pytest.approx(toolbox.deviation_ratings(outcome.meta))
    points = [match["payoffs"][role] for match in matches for role in game.roles() if match["agents"][role] == "a"]
    assert outcome.mean_payoff["a"] == pytest.approx(fmean(points))


def test_means_have_standard_errors_over_repetitions():
    """Each run's mean counts once: 3 and 1 in two runs give 2 with an error of 1, whatever the matches per run."""
    game = play.configure(SocialDilemma, {"base_game": "prisoners_dilemma"})
    runs = [(1, 3.0), (1, 3.0), (2, 1.0), (2, 1.0)]
    about = {"agents": {"p1": "a", "p2": "b"}, "records": []}
    matches = [{**about, "payoffs": {"p1": points, "p2": 1.0}, "repetition": run} for run, points in runs]
    outcome = tournament(game, matches)
    assert (outcome.mean_payoff["a"], outcome.mean_error["a"]) == (2, 1)
    assert outcome.mean_error["b"] is None, "nothing varies"


def test_ratings_have_intervals_over_repetitions():
    game, rng = play.configure(SocialDilemma, {"base_game": "prisoners_dilemma"}), Random(3)
    matches = [
        {"agents": {"p1": one, "p2": two}, "payoffs": {"p1": rng.gauss(0, 1) + (one == "a"), "p2": rng.gauss(0, 1)},
         "records": [], "repetition": repetition}
        for repetition in range(6) for one, two in product("ab", repeat=2)
    ]  # fmt: skip
    outcome = tournament(game, matches, draws=200)
    assert set(outcome.intervals) <= {"a", "b"} and outcome.intervals
    assert all(low <= outcome.ratings[label] <= high for label, (low, high) in outcome.intervals.items())
    assert not tournament(game, matches[:16], draws=200).intervals, "four runs are too few"
    alike = [{**match, "payoffs": {"p1": 2, "p2": 1}} for match in matches]
    assert not tournament(game, alike, draws=200).intervals, "nothing varies"
    config = {"base_game": "prisoners_dilemma"}
    (_agents, *columns), rows = next(
        (block.columns, block.rows) for block in results(SocialDilemma, [{**m, "config": config} for m in matches])
        if block.key == "agents_1"
    )  # fmt: skip
    assert columns[2] == "Deviation rating (95% interval over repetitions)" and any(" to " in row[3] for row in rows)


def test_results_show_one_tournament_per_base_game():
    config = {"base_game": "prisoners_dilemma"}
    records = [{"role": role, "cooperated": True} for role in ("p1", "p2")]
    match = {"config": config, "agents": {"p1": "a", "p2": "a"}, "payoffs": {"p1": 2, "p2": 2}, "records": records}
    stag_hunt_match = {**match, "config": {"base_game": "stag_hunt"}}
    blocks = results(SocialDilemma, [match, match, stag_hunt_match])
    assert [block.key for block in blocks if block.key.startswith("matrix")] == ["matrix_1", "matrix_2"]
    (agents,) = next(block for block in blocks if block.key == "agents_1").rows
    assert agents == ("a", "2", "100%", "0", "100%")


def test_leaderboard_compares_points_with_equilibrium_and_cooperation():
    def matches(base_game, points):
        config, pairs = {"base_game": base_game}, product(points, repeat=2)
        seated = [{"p1": one, "p2": other} for one, other in pairs]
        payoffs = [{role: points[agent] for role, agent in agents.items()} for agents in seated]
        played = zip(seated, payoffs, strict=True)
        return [{"config": config, "agents": agents, "payoffs": paid, "records": []} for agents, paid in played]

    finished = [*matches("prisoners_dilemma", {"a": 1, "b": 2}), *matches("trust", {"a": 10, "b": 4})]
    board = results(SocialDilemma, finished)[0]
    assert board.key == "leaderboard" and board.columns[0] == "Agent"
    assert board.rows == (("1. a", "0.5", "0", "1"), ("2. b", "0.5", "1", "0"))
