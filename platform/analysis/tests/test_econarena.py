"""Economics Arena's analyses on sessions with results known by hand."""

from __future__ import annotations

import pytest

from analysis import load
from analysis.published.econarena.results import depth, first_close_run, interaction, slope
from analysis.tests.building import dataset

PLAYERS = {"p1": "openai:gpt-4", "p2": "openai:gpt-3.5-turbo"}


def sessions(folder, answers, *, upper=100, environment="melee", runs=1, depth_of=0, first=0):
    """Write contests between two players; `answers` holds each session's answers by run, and the lower answer wins."""
    matches, rounds = [], []
    for number, session in enumerate(answers):
        match = f"{environment}{first + number:03}"
        matches.append({"match": match, "game": "beauty_contest", "environment": environment, "config_players": 2,
                        "started_at": f"2026-01-01T00:{first + number:02}:00Z",
                        "config_upper": upper if not callable(upper) else upper(number), "config_prize": 1,
                        "config_fraction": 2 / 3, "config_runs": runs, "config_history_depth": depth_of,
                        **{f"player_{r}": player for r, player in PLAYERS.items()}, "in_dataset": True})  # fmt: skip
        for run, numbers in enumerate(session, start=1):
            valid = [x for x in numbers if x <= matches[-1]["config_upper"]]
            for role, x in zip(PLAYERS, numbers, strict=True):
                rounds.append({"match": match, "run": run, "role": role, "answer": float(x), "foul": x not in valid,
                               "won": 1.0 if valid and x == min(valid) and x in valid else 0.0})  # fmt: skip
    return dataset(folder, {"matches": matches, "rounds": rounds})


@pytest.fixture
def melee(tmp_path):
    """gpt-4 answers 10, 20, 40 and wins the first two sessions; gpt-3.5 breaks the rules in the second."""
    return load(sessions(tmp_path / "d", [[(10, 30)], [(20, 120)], [(40, 0)]]))


def by_player(outcome, table):
    return outcome.tables[table].frame.set_index("player")


def test_payoffs_ratios_and_table_1(melee):
    rows = by_player(melee.run("econarena.payoffs", draws=50), "payoffs")
    assert rows.loc["openai:gpt-4", "estimate"] == pytest.approx(2 / 3)
    ratios = by_player(melee.run("econarena.ratio", draws=50), "ratios")
    assert ratios.loc["openai:gpt-4", "estimate"] == pytest.approx(4 / 3)
    senior = by_player(melee.run("econarena.senior", draws=50), "sessions")
    assert senior.loc["openai:gpt-3.5-turbo", "estimate"] == pytest.approx(1 / 3)


def test_deviations_exclude_fouls(melee):
    outcome = melee.run("econarena.deviation", draws=50)
    rows = by_player(outcome, "deviations")
    assert rows.loc["openai:gpt-4", "estimate"] == pytest.approx(0.7 / 3)
    assert (rows.loc["openai:gpt-3.5-turbo", "estimate"], rows.loc["openai:gpt-3.5-turbo", "n"]) == (0.15, 2)
    fouls = by_player(melee.run("econarena.fouls"), "fouls")
    assert (fouls.loc["openai:gpt-3.5-turbo", "fouls"], fouls.loc["openai:gpt-3.5-turbo", "n"]) == (1, 3)


def test_levels_of_reasoning():
    # 50, 50·2/3, 50·(2/3)², beyond the fourth, and equilibrium
    assert [depth(x, 100, 2 / 3) for x in (50, 33, 22.2, 1, 0, 90)] == ["0", "1", "2", "4", "∞", "0"]


def test_prizes_that_do_not_add_up_give_a_warning(tmp_path):
    data = load(sessions(tmp_path / "d", [[(10, 10)]]))  # both receive the whole prize
    warnings = data.run("econarena.payoffs", draws=20).result.warnings
    assert "do not add up" in warnings[0]


def test_learning_is_the_slope_within_sessions(tmp_path):
    # gpt-4: d falls by .1 per run in one session and by .2 in the other.
    answers = [[(50, 20), (40, 20), (30, 20)], [(50, 20), (30, 20), (10, 20)]]
    data = load(sessions(tmp_path / "d", answers, environment="melee-history", runs=3, depth_of=3))
    outcome = data.run("econarena.paths")
    rows = by_player(outcome, "slopes")
    assert rows.loc["openai:gpt-4", "estimate"] == pytest.approx(-0.15)
    assert rows.loc["openai:gpt-3.5-turbo", "estimate"] == pytest.approx(0)
    assert (first_close_run([0.2, 0.04, 0.06, 0.03, 0.01]), first_close_run([0.2, None]), first_close_run([0.01])) == (
        4,
        None,
        1,
    )


def test_a_slope_has_cluster_robust_errors():
    import pandas as pd
    import statsmodels.formula.api as smf

    rows = pd.DataFrame({"match": list("aaabbbccc"), "run": [1, 2, 3] * 3, "d": [5, 4, 2, 3, 3, 1, 6, 2, 3]})
    result = slope(rows, 0.95)
    fit = smf.ols("d ~ run + C(match)", rows).fit(
        cov_type="cluster", cov_kwds={"groups": rows["match"].map({"a": 0, "b": 1, "c": 2})}, use_t=True
    )
    assert (result["estimate"], result["se"], result["p"]) == (
        pytest.approx(fit.params["run"]), pytest.approx(fit.bse["run"]), pytest.approx(fit.pvalues["run"]),
    )  # fmt: skip


def test_history_is_compared_over_both_datasets(tmp_path):
    without_history = sessions(tmp_path / "a", [[(10, 30)], [(20, 30)]])
    with_history = sessions(tmp_path / "b", [[(30, 30)], [(40, 30)]], environment="melee-history", runs=2, depth_of=3)
    outcome = load(without_history, with_history).run("econarena.history")
    assert by_player(outcome, "differences").loc["openai:gpt-4", "estimate"] == pytest.approx(0.2)
    assert load(without_history).run("econarena.history").status == "skipped"


def test_interaction_of_players_and_stakes(tmp_path):
    import pandas as pd
    import statsmodels.formula.api as smf

    answers = [[(10, 30)], [(20, 10)], [(5, 9)], [(8, 2)], [(7, 6)], [(3, 9)]]
    data = load(sessions(tmp_path / "d", answers, upper=lambda number: 50 if number < 3 else 500))
    outcome = data.run("econarena.configurations", draws=50)
    groups = outcome.tables["groups"].frame.set_index(["player", "group"])["estimate"]
    assert groups["openai:gpt-4", "L"] == pytest.approx(2 / 3)
    rows = pd.DataFrame({"player": ["a", "b"] * 8, "group": list("LLLLLLLLMMMMMMMM"),
                         "match": [number // 2 for number in range(16)],
                         "payoff": [3, 1, 2, 2, 4, 0, 2, 1, 1, 5, 0, 3, 1, 4, 2, 2.0]})  # fmt: skip
    test = interaction(rows)
    model = smf.ols("payoff ~ C(player) * C(group)", rows).fit(
        cov_type="cluster", cov_kwds={"groups": rows["match"]}, use_t=True
    )
    expected = model.f_test("C(player)[T.b]:C(group)[T.M] = 0")
    assert (test["estimate"], test["p"]) == (
        pytest.approx(float(expected.fvalue)),
        pytest.approx(float(expected.pvalue)),
    )


def test_auctions_by_final_assets_and_values(tmp_path):
    """The specification's case 4: assets 100, values 80, 65, 20, bids 80, 90, 20: p2 pays 80."""
    match = {"match": "m1", "game": "sealed_auction", "environment": "melee", "config_players": 3, "config_runs": 1,
             "config_assets": 100, "config_foul_fee": 0, "player_p1": "a", "player_p2": "b", "player_p3": "c",
             "in_dataset": True}  # fmt: skip
    seats = [{"match": "m1", "role": f"p{number}", "value": v, "nash_assets": n}
             for number, (v, n) in enumerate([(80, 115), (65, 100), (20, 100)], start=1)]  # fmt: skip
    rounds = [{"match": "m1", "run": 1, "role": f"p{number}", "bid": b, "foul": False, "won": number == 2, "price": 80,
               "final_assets": f}
              for number, (b, f) in enumerate([(80, 100), (90, 85), (20, 100)], start=1)]  # fmt: skip
    data = load(dataset(tmp_path / "d", {"matches": [match], "seats": seats, "rounds": rounds}))
    payoff = by_player(data.run("econarena.payoffs", draws=20), "payoffs")["estimate"]
    assert payoff.to_dict() == {"a": 0, "b": -15, "c": 0}
    d = by_player(data.run("econarena.deviation", draws=20), "deviations")["estimate"]
    assert d.to_dict() == {"a": pytest.approx(0.130435, abs=1e-6), "b": pytest.approx(0.15), "c": 0}
