"""CoopEval's analyses on tournaments with results known by hand."""

from __future__ import annotations

import csv
import json
from itertools import product
from typing import Any

import pandas as pd
import pytest

from analysis import load
from analysis.options import Options
from analysis.published.coopeval.payoffs import ONE_RUN, bootstrap_runs, rank_best_first, shown_steps
from analysis.published.coopeval.tournaments import mean_and_se, normalised, over_means
from analysis.tests.building import dataset
from analysis.toolbox.dependence import NO_VARIATION, TOO_FEW

PAYOFFS = {"CC": (2, 2), "CD": (0, 3), "DC": (3, 0), "DD": (1, 1)}
AGENTS = {"C": "openai:kind", "D": "openai:hard"}


def tournament(mechanism="none", runs=1, game="prisoners_dilemma", **columns):
    """Everyone plays everyone, with rounds: C always cooperates and D never does."""
    matches, rounds = [], []
    for run, (first, second) in product(range(1, runs + 1), product("CD", repeat=2)):
        name = f"{mechanism}-{game}-{run}-{first}{second}"
        paid = PAYOFFS[first + second]
        matches.append({"match": name, "game": "social_dilemma", "repetition": run, "config_base_game": game,
                        "config_mechanism": mechanism, "player_p1": AGENTS[first], "player_p2": AGENTS[second],
                        "payoffs_p1": paid[0], "payoffs_p2": paid[1], "winner_approvals": None,
                        "contract_active": None, "delegation_rate": None, **columns, "in_dataset": True})  # fmt: skip
        for seat, (role, action) in enumerate((("p1", first), ("p2", second))):
            rounds.append({"match": name, "round": 1, "role": role, "group": 1,
                           "action": "A0" if action == "C" else "A1", "delegated": None,
                           "points": paid[seat]})  # fmt: skip
    return matches, rounds


def loaded(folder, *tournaments, decisions=()):
    matches, rounds = ([row for tables in tournaments for row in tables[index]] for index in (0, 1))
    return load(
        dataset(folder, {"matches": matches, "rounds": rounds, "decisions": list(decisions) or DECISION_COLUMNS})
    )


DECISION_COLUMNS = {"match": "text", "role": "text", "round": "number", "phase": "text", "move": "text"}


def test_mean_and_fitness_use_the_right_populations(tmp_path):
    outcome = loaded(tmp_path / "d", tournament()).run("coopeval.payoffs")
    rows = outcome.tables["aggregate"].frame.set_index("agent")
    # kind: (2 + 0)/2 = 1, normalised 0; hard: (3 + 1)/2 = 2, normalised 1. Selection leaves only hard: 1 point.
    assert rows["mean"].to_dict() == {"openai:kind": 0, "openai:hard": 1, "all agents": 0.5}
    assert rows.loc["all agents", "fitness"] == pytest.approx(0, abs=1e-4)
    assert rows.loc["all agents", "published_mean"] == ".072 ± .015"


@pytest.mark.parametrize(
    ("mechanism", "parameter", "pooled"),
    [("repetition", "continuation", False), ("contract", "contract_bound", False), ("none", "continuation", True)],
)
def test_matches_are_pooled_only_if_parameters_with_an_effect_are_equal(tmp_path, mechanism, parameter, pooled):
    runs = [tournament(mechanism, **{f"config_{parameter}": value}) for value in (0.8, 0.9)]
    for rows in runs[1]:
        for row in rows:
            row["match"] += "-2"
    for analysis in ("payoffs", "meta_game"):
        outcome = loaded(tmp_path / analysis, *runs).run(f"coopeval.{analysis}")
        assert outcome.status == ("done" if pooled else "skipped")
        assert pooled or f"differ in {parameter}" in outcome.reason


def test_standard_errors_are_over_games():
    runs = pd.DataFrame({"game": ["a", "a", "b"], "score": [0.0, 1.0, 1.0]})
    assert over_means(runs, "score", "game") == {"estimate": 0.75, "se": pytest.approx(0.25), "n": 2}
    assert mean_and_se([0.4]) == {"estimate": 0.4, "se": None, "n": 1}
    assert (normalised(5, "travelers_dilemma"), normalised(1.25, "public_goods"), normalised(3, "stag_hunt")) == (
        1, 0.5, None,
    )  # fmt: skip


def test_mechanisms_are_ranked(tmp_path):
    better, rounds = tournament("contract")
    for row in better:
        row["payoffs_p1"], row["payoffs_p2"] = 2, 2
    data = loaded(tmp_path / "d", tournament(), (better, rounds), tournament(game="trust"))
    rows = data.run("coopeval.ranking", draws=20).tables["mechanisms"].frame
    assert rows["mechanism"].tolist() == ["contract", "none"]
    assert rows["published"].tolist() == [1, 6]
    assert loaded(tmp_path / "e", tournament()).run("coopeval.ranking").status == "skipped"


def test_payoffs_of_every_pair_of_agents(tmp_path):
    data = loaded(tmp_path / "d", tournament(runs=2))
    table = data.run("coopeval.meta_game").tables["payoffs"].frame.set_index(["agent", "other"])
    assert table.loc[("openai:hard", "openai:kind"), ["own", "others", "estimate"]].tolist() == [3, 0, 2]


def test_selection_ends_with_the_fitter_agent(tmp_path):
    data = loaded(tmp_path / "d", tournament())
    outcome = data.run("coopeval.dynamics")
    [end] = outcome.tables["ends"].frame.to_dict("records")
    assert (end["openai:hard"], end["points"]) == (pytest.approx(1, abs=1e-3), pytest.approx(1, abs=1e-3))
    assert set(outcome.figures) == {"population_none", "fitness_none"}
    assert shown_steps(1) == [0]
    assert (shown_steps(500)[0], shown_steps(500)[-1]) == (0, 499)


def test_ratings_become_ranks_with_the_best_first(tmp_path):
    assert rank_best_first([-0.5, -0.5 + 1e-12, 0.0]) == [2.5, 2.5, 1]
    rows = loaded(tmp_path / "d", tournament()).run("coopeval.deviation").tables["ranks"].frame.set_index("agent")
    # Deviating to hard gains nothing if both play it; deviating to kind loses a point.
    assert rows["estimate"].to_dict() == {"openai:hard": 1, "openai:kind": 2}
    assert rows["rating"].to_dict() == {"openai:hard": pytest.approx(0, abs=1e-6), "openai:kind": pytest.approx(-1)}


def test_ratings_have_intervals_over_the_runs_of_each_game(tmp_path):
    def interval(**ranks: list[float]) -> dict[str, Any]:
        rows = [{"game": game, "run": run, "rank": rank} for game, of in ranks.items() for run, rank in enumerate(of)]
        return bootstrap_runs(pd.DataFrame(rows), "rank", Options(draws=4000))

    found = interval(a=[1, 2] * 30, b=[3] * 5)
    # The mean of 60 runs varies by √(1/4 / 59), and by half of that after averaging with the other game.
    assert (found["low"], found["high"]) == pytest.approx((2.25 - 1.96 * 0.0325, 2.25 + 1.96 * 0.0325), abs=0.01)
    assert found["runs"] == 65
    assert interval(a=[1, 2, 1, 2, 1], b=[3])["note"] == ONE_RUN
    assert interval(a=[1, 2], b=[1, 2])["note"] == TOO_FEW
    assert interval(a=[1, 1, 1], b=[2, 2, 2]) == {"low": None, "high": None, "runs": 6, "note": NO_VARIATION}
    rows = loaded(tmp_path / "d", tournament()).run("coopeval.deviation").tables["ranks"].frame
    assert rows["low"].isna().all() and set(rows["note"]) == {ONE_RUN}


def test_stated_probabilities_appear_next_to_actions(tmp_path):
    tables = tournament()
    first = tables[0][0]["match"]
    moves = [
        {"match": first, "role": role, "round": 1, "phase": "act", "move": json.dumps(move)}
        for role, move in (("p1", {"percentages": {"A0": 60, "A1": 40}}), ("p2", {"action": "A0"}))
    ]
    table = loaded(tmp_path / "d", tables, decisions=moves).run("coopeval.actions").tables["actions"].frame
    assert table.set_index("action")["estimate"].to_dict() == {"A0": 0.8, "A1": pytest.approx(0.2)}
    assert table.set_index("action")["realised"].to_dict() == {"A0": 0.5, "A1": 0.5}


def test_reactions_of_few_matches_have_no_interval(tmp_path):
    one = loaded(tmp_path / "one", tournament("repetition", runs=1)).run("coopeval.reactions").tables["reactions"].frame
    assert one["low"].isna().all() and set(one["note"]) == {TOO_FEW}


def test_reactions_follow_the_co_players_last_action(tmp_path):
    matches, rounds = tournament("repetition")
    name = matches[1]["match"]  # kind against hard; kind defects in the second round
    rounds += [{"match": name, "round": 2, "role": role, "group": 1, "action": "A1", "delegated": None, "points": 1}
               for role in ("p1", "p2")]  # fmt: skip
    table = loaded(tmp_path / "d", (matches, rounds)).run("coopeval.reactions").tables["reactions"].frame
    reactions_of_kind = table[table["player"] == "openai:kind"].set_index(["after", "action"])["k"].to_dict()
    assert reactions_of_kind == {("after A1", "A1"): 1, ("no history", "A0"): 4}


@pytest.fixture
def contracts(tmp_path):
    """Matches with a contract: kind fines defection, hard proposes nothing; hard never approves or signs."""
    tables = tournament("contract", runs=2, winner_approvals=1, contract_active=False)
    tables[0][0]["contract_active"] = True
    moves = []
    for row in tables[0]:
        for role in ("p1", "p2"):
            is_kind = row[f"player_{role}"] == AGENTS["C"]
            moves_by_phase = [("propose", {"contract": {"A0": 0, "A1": -2 if is_kind else 0}}),
                              ("approve", {"approve": {"C1": is_kind, "C2": is_kind}}),
                              ("sign", {"sign": is_kind})]  # fmt: skip
            moves += [{"match": row["match"], "role": role, "round": 1, "phase": phase, "move": json.dumps(move)}
                      for phase, move in moves_by_phase]  # fmt: skip
    return loaded(tmp_path / "d", tables, decisions=moves)


def test_votes_and_signatures(contracts):
    tables = contracts.run("coopeval.votes").tables
    assert tables["adopted"].frame["estimate"].tolist() == [0.125]  # one of four matches in the first run, none later
    assert tables["signing"].frame.set_index("player")["estimate"].to_dict() == {"openai:hard": 0, "openai:kind": 1}
    # Both seats judge each proposal: kind approves all, so everyone's share equals the share of kinds.
    approvals = tables["approvals"].frame.set_index("player")["estimate"].to_dict()
    assert approvals == {"openai:hard": 0.25, "openai:kind": 0.75}


def test_designs_are_judged_by_stability_and_dominance(contracts):
    rows = contracts.run("coopeval.designs").tables["designs"].frame.set_index(["player", "criterion"])["estimate"]
    assert rows["openai:kind", "stable (Nash)"] == rows["openai:kind", "weakly dominant"] == 1
    assert rows["openai:hard", "stable (Nash)"] == 0


def test_reasons_need_a_judge(tmp_path):
    data = loaded(tmp_path / "d", tournament())
    assert "labels.csv" in data.run("coopeval.reasons").reason
    with (tmp_path / "d" / "labels.csv").open("w", newline="") as opened_file:
        writer = csv.writer(opened_file)
        writer.writerow(["match", "role", "judge_number", "label_equilibrium"])
        for index, row in enumerate(tournament()[0]):
            writer.writerow([row["match"], "p1", 1, "true" if index < 3 else "false"])
        writer.writerow([tournament()[0][0]["match"], "p1", 2, "false"])
    outcome = load(tmp_path / "d").run("coopeval.reasons")
    assert outcome.numbers["equilibrium"]["estimate"] == 0.75
