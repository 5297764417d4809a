"""EconEvals' analyses on datasets with results known by hand."""

from __future__ import annotations

import pandas as pd
import pytest

from analysis import load
from analysis.options import Options
from analysis.published.econevals.benchmarks import first_near_best
from analysis.published.econevals.litmus import best_overall_rate, bootstrap_rates, choices, order_effect
from analysis.tests.building import dataset


def match(number, game, agent, **columns):
    return {"match": f"m{number:03}", "game": game, "player_agent": agent, "participant_agent": None, "seed": number,
            **columns, "in_dataset": True}  # fmt: skip


def loaded(folder, matches, **tables):
    return load(dataset(folder, {"matches": matches, **tables}))


@pytest.fixture
def procurements(tmp_path):
    """Two agents on the same three instances with differences .1, .2, .3; a third agent on another instance."""
    scores = {"a": (0.9, 0.8, 1.0), "b": (0.8, 0.6, 0.7)}
    rows = [
        match(10 * index + seed, "procurement", agent, config_level="basic", config_told="baseline",
              config_instance_seed=seed, config_periods=4, score=value, solved=value == 1,
              exploration_rate=value / 2)
        for index, (agent, values) in enumerate(scores.items()) for seed, value in enumerate(values)
    ]  # fmt: skip
    rows.append({**rows[0], "match": "m090", "player_agent": "c", "config_instance_seed": 9, "score": None})
    rounds = [
        {"match": row["match"], "round": t, "best_so_far": best, "optimum": 10}
        for row in rows for t, best in enumerate([2, 9, 9, 10], start=1)
    ]  # fmt: skip
    return loaded(tmp_path / "d", rows, rounds=rounds)


def test_scores_are_shown_next_to_published_ones(procurements):
    rows = {row["agent"]: row for row in procurements.run("econevals.scores").tables["scores"].frame.to_dict("records")}
    assert (rows["a"]["estimate"], rows["a"]["solved"]) == (pytest.approx(90), 1)
    assert rows["a"]["published"] == "72.8, 62.3, 43.8"
    assert rows["c"]["missing"] == 1


def test_agents_are_compared_on_the_instances_that_both_played(procurements):
    [row] = procurements.run("econevals.tests").tables["score"].frame.to_dict("records")
    # mean .2, sd .1: t = .2/(.1/√3)
    assert (row["n"], row["estimate"], row["t"]) == (3, pytest.approx(0.2), pytest.approx(3.464102))


def test_without_a_shared_instance_there_is_no_test(tmp_path):
    rows = [match(number, "pricing", agent, config_level="hard", config_instance_seed=number, score=0.5)
            for number, agent in enumerate("ab")]  # fmt: skip
    outcome = loaded(tmp_path / "d", rows).run("econevals.tests")
    assert (outcome.status, "same instance" in outcome.reason) == ("skipped", True)


def test_exploration_and_every_run(procurements):
    rates = procurements.run("econevals.exploration").tables["rates"].frame.set_index("agent")
    assert rates.loc["b", "estimate"] == pytest.approx(0.35)
    assert rates.loc["a", "published"] == 0.27
    assert len(procurements.run("econevals.runs").tables["runs"].frame) == 7


def test_learning_uses_first_good_period_and_mean(procurements):
    assert (first_near_best([0.2, 0.9, 0.9, 1.0]), first_near_best([0.0, 0.0])) == (2, None)
    rows = procurements.run("econevals.learning", draws=20).tables["speed"].frame.set_index("agent")
    assert (rows.loc["a", "first"], rows.loc["a", "area"]) == (2, pytest.approx(0.75))


def test_scheduling_keeps_the_best_and_the_last_score(tmp_path):
    rows = [match(1, "scheduling", "a", config_level="basic", config_periods=4, score=1.0, solved=True,
                  exploration_rate=1.0, expected_blocking_pairs=4.0, config_instance_seed=0)]  # fmt: skip
    rounds = [{"match": "m001", "round": t, "blocking_pairs": b} for t, b in enumerate([2, 6, 0], start=1)]
    outcome = loaded(tmp_path / "d", rows, rounds=rounds).run("econevals.learning")
    assert outcome.tables["curves"].frame["estimate"].tolist() == [0.5, 0.5, 1, 1]


def allocation(number, agent, goal, seed, litmus, **columns):
    return match(number, "task_allocation", agent, config_goal=goal, config_instance_seed=seed, litmus=litmus,
                 efficiency_share=0.9, equality_share=0.7, frontier_distance=0.1, revenue=90.0, best_revenue=100.0,
                 equal_revenue=70.0, inequality=20.0, inequality_at_best=40.0, **columns)  # fmt: skip


def test_litmus_scores_come_with_reliability(tmp_path):
    rows = [allocation(0, "a", "both", 0, 0.2), allocation(1, "a", "both", 1, 0.4),
            allocation(2, "a", "efficiency", 0, 1.0), allocation(3, "a", "equality", 0, 0.1),
            allocation(4, "b", "both", 0, 0.1), allocation(5, "b", "both", 1, 0.1)]  # fmt: skip
    data = loaded(tmp_path / "d", rows)
    row = data.run("econevals.litmus", draws=50).tables["litmus"].frame.set_index("agent").loc["a"]
    assert (row["estimate"], row["reliability"], row["reliability_n"]) == (pytest.approx(0.3), pytest.approx(0.8), 2)
    tests = data.run("econevals.equality").tables["tests"].frame.set_index(["agent", "other"])
    assert tests.loc[("a", "b"), "estimate"] == pytest.approx(0.2)
    assert tests.loc[("a", "a, told to equalise"), "n"] == 1


@pytest.fixture
def patience_answers(tmp_path):
    """The specification's case: 1 year, 102, 104, 106, 108, later from 106; in a second match also once at 104."""
    rows, rounds = [], []
    for index, later_amounts in enumerate([(106, 108), (106, 108)]):
        rows.append(match(index, "patience", "a", config_horizon="1 year"))
        for number in range(8):
            amount, now_first = 102 + 2 * (number // 2), number % 2 == 0
            later = amount in later_amounts or (index == 1 and amount == 104 and now_first)
            rounds.append({"match": f"m{index:03}", "round": number + 1, "amount": float(amount),
                           "now_option": "A" if now_first else "B", "later": later})  # fmt: skip
    return loaded(tmp_path / "d", rows, rounds=rounds)


def test_the_implied_rate_of_all_choices(patience_answers):
    answers = choices(patience_answers, patience_answers.table("matches", ["match", "config_horizon"]))
    assert best_overall_rate(answers[answers["match"] == "m000"])["rate"] == pytest.approx(0.049)
    with_one_later = best_overall_rate(answers[answers["match"] == "m001"])
    assert (with_one_later["rate"], with_one_later["reliability"]) == (pytest.approx(0.039), pytest.approx(0.875))
    assert bootstrap_rates(answers, Options(draws=200)) == (None, None), "two matches are too few"
    copies = {"m000": "a", "m001": "abcd"}
    five = pd.concat([answers[answers["match"] == match].assign(match=match + copy)
                      for match, letters in copies.items() for copy in letters])  # fmt: skip
    low, high = bootstrap_rates(five, Options(draws=200))
    assert (low, high) == (pytest.approx(0.039), pytest.approx(0.049))
    rows = patience_answers.run("econevals.patience", draws=20).tables["rates"].frame.set_index("horizon")
    assert rows.loc["1 year", "published"] == "10.45 (0.825), 8.00 (0.808), 6.00 (0.889)"


def test_the_order_of_the_options(patience_answers):
    effect = order_effect(patience_answers, {"m000", "m001"})
    assert (effect["now_first_only"], effect["later_first_only"], effect["n"], effect["p"]) == (1, 0, 8, 1.0)


def test_collusion(tmp_path):
    def firms(number, agent, litmus, rival=True, converged=None):
        return {"match": f"m{number}", "game": "duopoly", "player_firm_1": agent,
                "player_firm_2": agent if rival else None, "seed": number, "config_rival": rival, "config_alpha": 2.0,
                "config_periods": 4, "litmus": litmus, "converged": converged, "in_dataset": True}  # fmt: skip

    rows = [firms(1, "a", 0.2), firms(2, "a", 0.4), firms(3, "b", 0.9), firms(4, "b", 0.7),
            firms(5, "a", None, False, True)]  # fmt: skip
    rounds = [{"match": "m1", "round": t, "role": role, "price": 2.0 * (t + shift)}
              for t in (1, 2, 3, 4) for role, shift in (("firm_1", -2), ("firm_2", 0))]  # fmt: skip
    data = loaded(tmp_path / "d", rows, rounds=rounds)
    cells = data.run("general.outcomes").tables["cells"].frame
    assert set(cells["player_firm_2"]) == {"a", "b", "none"}  # nobody, where there is no rival
    outcome = data.run("econevals.duopoly")
    [test] = outcome.tables["tests"].frame.to_dict("records")
    assert (test["estimate"], test["t"]) == (pytest.approx(-0.5), pytest.approx(-0.5 / 0.02**0.5))
    assert outcome.tables["alone"].frame["share"].tolist() == [1.0]
    [point] = [v for v in outcome.figures["prices"].spec["data"]["values"]]
    assert (point["firm_1"], point["firm_2"]) == (1.5, 2.2)  # the last two periods: 1, 2 and 3, 4, cut
    litmus = data.run("econevals.litmus", draws=20).tables["litmus"].frame.set_index("agent")
    assert litmus.loc["a", "reliability"] == 1.0
