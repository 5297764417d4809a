"""general.leaderboard on auctions between agents of known strength."""

from __future__ import annotations

from random import Random

import pytest

from analysis import load
from analysis.tests.building import dataset, match

STRENGTH = {"script:a": 0.8, "script:b": 0.0, "script:c": -0.8}


@pytest.fixture
def rated(tmp_path):
    """Return a function that runs the analysis on two-seat matches with these scores."""

    def run(*played, game="item_auction", **columns):
        matches, seats = [], []
        for number, (seed, players, scores) in enumerate(played):
            names = dict(zip(("player_p1", "player_p2"), players, strict=True))
            matches.append({**match(number), "game": game, "seed": seed, **names, **columns})
            seats += [{"match": f"m{number:06}", "role": role, "kind": "bidder", "payoff": score, "profit": score}
                      for role, score in zip(("p1", "p2"), scores, strict=True)]  # fmt: skip
        for row in matches:
            del row["player_alice"], row["player_bob"], row["participant_alice"], row["participant_bob"]
        return load(dataset(tmp_path / "data", {"matches": matches, "seats": seats})).run("general.leaderboard")

    return run


def tournament(seeds):
    rng = Random(3)
    for seed in range(seeds):
        for one in STRENGTH:
            for two in STRENGTH:
                if one != two:
                    chance = 1 / (1 + 2.718 ** (STRENGTH[two] - STRENGTH[one]))
                    score = float(rng.random() < chance)
                    yield seed, (one, two), (score + rng.random() / 2, 1.25 - score)


def test_agents_are_ranked_with_intervals(rated):
    outcome = rated(*tournament(40))
    assert outcome.status == "done", outcome.reason
    rows = outcome.tables["strengths"].records
    assert [row["player"] for row in rows] == [*STRENGTH]
    assert [row["ranks"] for row in rows] == ["1 to 1", "2 to 2", "3 to 3"]
    assert all(row["low"] < row["estimate"] < row["high"] and row["clusters"] == 40 for row in rows)
    direct = {(row["player"], row["other"]): row["estimate"] for row in outcome.tables["head_to_head"].records}
    assert direct["script:a", "script:c"] == pytest.approx(1 - direct["script:c", "script:a"])
    assert direct["script:a", "script:c"] > 0.6
    assert {"rank of script:a", "script:a", "first seat"} <= set(outcome.numbers)
    assert {"strengths", "head_to_head"} <= set(outcome.figures)


def test_who_always_wins_has_a_rank_only(rated):
    outcome = rated(*[(seed, ("script:a", "script:b"), (2, 1)) for seed in range(6)],
                    *[(seed, ("script:b", "script:a"), (1, 2)) for seed in range(6)])  # fmt: skip
    rows = outcome.tables["strengths"].records
    assert [(row["rank"], row["player"], row["estimate"]) for row in rows] == [
        (1, "script:a", None), (2, "script:b", None)
    ]  # fmt: skip
    assert set(outcome.figures) == {"head_to_head"}


def test_other_games_are_skipped(rated):
    assert rated(*tournament(2), game="bargaining").reason.startswith("The game does not rate")
