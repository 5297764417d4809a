"""What reports show about observations that depend on each other: people who meet again, replays, and attrition."""

from __future__ import annotations

import json
from argparse import ArgumentParser

import numpy as np
import pandas as pd
import pytest

from analysis import load, toolbox
from analysis.charts import Figure
from analysis.command import add_arguments, run
from analysis.tests.building import dataset, match
from analysis.toolbox.effects import within


def meetings(rng, *, sessions: int = 10, people: int = 6, rounds: int = 4, by_session: bool = True):
    """Return matches of people who meet again and again in their session, in two arms without an effect."""
    rows = []
    arms = rng.permutation([0, 1] * (sessions // 2))
    for session in range(sessions):
        skill, mood = rng.normal(size=people), 0.7 * rng.normal()
        for _round in range(rounds):
            order = rng.permutation(people)
            for first, second in zip(order[::2], order[1::2], strict=True):
                arm = arms[session] if by_session else rng.integers(2)
                outcome = skill[first] + skill[second] + mood + rng.normal()
                rows.append(match(len(rows), player_alice="human", player_bob="human", seed=int(rng.integers(2**40)),
                                  participant_alice=f"p{session}.{first}", participant_bob=f"p{session}.{second}",
                                  config_rounds=int(1 + arm), efficiency=float(outcome)))  # fmt: skip
    return rows


def brute_force(rows, outcome, columns, unit):
    """Return estimates, CR3 standard errors and Bell and McCaffrey's degrees of freedom from their definitions."""
    x = np.array([[1.0, *(float(test(row)) for test in columns)] for row in rows])
    y, units = np.array([row[outcome] for row in rows]), np.array([row[unit] for row in rows])
    everything, changes = np.linalg.pinv(x), []
    for label in np.unique(units):
        without = np.zeros_like(everything)
        without[:, units != label] = np.linalg.pinv(x[units != label])
        changes.append(without - everything)
    number, maps = len(changes), np.array(changes)
    errors = np.sqrt((number - 1) / number * ((maps @ y) ** 2).sum(axis=0))
    products = [maps[:, index] @ maps[:, index].T for index in range(x.shape[1])]
    df = [min(np.trace(product) ** 2 / (product**2).sum(), number - 1) for product in products]
    return everything @ y, errors, np.array(df)


@pytest.mark.parametrize("units", [7, 25, 90])
def test_effects_leave_out_one_unit_at_a_time(units):
    rng = np.random.default_rng(units)
    rows = [{"y": rng.normal(), "a": str(rng.choice(list("xyz"))), "b": int(rng.integers(2)), "unit": int(unit)}
            for unit in [*range(units), *rng.integers(0, units, 90 - units)]]  # fmt: skip
    fit = toolbox.effects(rows, "y", {"a": "x", "b": 0}, group="unit")
    expected = brute_force(rows, "y", [lambda r: r["a"] == "y", lambda r: r["a"] == "z", lambda r: r["b"] == 1], "unit")
    for key, values in zip(("estimate", "se", "df"), expected, strict=True):
        assert [term[key] for term in fit["terms"][:4]] == pytest.approx(values)
    assert (fit["method"], fit["clusters"], fit["n"]) == ("CR3", units, 90)


@pytest.mark.parametrize("units", [30, 120])
def test_effects_agree_with_statsmodels(units):
    """CR3 with one row per unit is HC3, but for the factor; with more rows, the jackknife around its own mean."""
    import statsmodels.formula.api as smf

    rng = np.random.default_rng(2)
    rows = [{"y": float(rng.normal()), "a": str(rng.choice(list("xyz"))), "unit": number % units}
            for number in range(120)]  # fmt: skip
    columns = pd.DataFrame(rows)
    model = smf.ols("y ~ C(a)", columns)
    errors = [term["se"] for term in toolbox.effects(rows, "y", {"a": "x"}, group="unit")["terms"]]
    if units == 120:
        assert errors == pytest.approx((model.fit(cov_type="HC3").bse * (119 / 120) ** 0.5).tolist())
    else:
        theirs = model.fit(cov_type="cluster-jk", cov_kwds={"groups": columns["unit"]})
        assert errors == pytest.approx(theirs.bse.tolist(), rel=0.01)


def test_an_effect_within_strata_equals_the_regression_with_their_dummies():
    rng = np.random.default_rng(3)
    x, strata, units = rng.integers(0, 2, 90), rng.integers(0, 6, 90), rng.integers(0, 15, 90)
    y = x + strata + rng.normal(size=90)
    rows = [dict(zip(("x", "s", "u", "y"), row, strict=True)) for row in zip(x, strata, units, y, strict=True)]
    fit = toolbox.effects(rows, "y", {"x": 0, "s": 0}, group="u")
    expected = next(term for term in fit["terms"] if term["term"] == "x=1")
    found = within(x, y, strata, units, level=0.95)
    for key in ("estimate", "se", "low", "high", "p", "df"):
        assert found[key] == pytest.approx(expected[key])


def test_people_who_meet_are_one_unit_through_a_chain_of_others():
    pairs = ["ab", "bc", "de", "f", "cg", "hi", "j"]
    rows = [{"first": pair[0], "second": pair[1:] or None, "group": "g" if "h" in pair or "j" in pair else None}
            for pair in pairs]  # fmt: skip
    relations = [[[row["first"] for row in rows], [row["second"] for row in rows]], [[row["group"] for row in rows]]]
    assert toolbox.components(7, relations).tolist() == [0, 0, 1, 2, 0, 3, 3]
    assert toolbox.components(7, relations[:1]).tolist() == [0, 0, 1, 2, 0, 3, 4]


def test_comparisons_without_enough_units_say_why():
    rows = [{"y": float(n % 5 + n), "a": int(n > 3), "who": f"p{n}"} for n in range(12)]
    few = toolbox.effects(rows[:4] + rows[-1:], "y", {"a": 0}, people=["who"])
    assert few["terms"][1]["p"] is None and "one independent unit only" in few["terms"][1]["note"]
    joined = [{**row, "who": "one" if row["a"] else row["who"]} for row in rows]
    dominated = toolbox.effects(joined, "y", {"a": 0}, people=["who"])["terms"][1]
    assert dominated["low"] is None and "unit holds half" in dominated["note"]
    assert "fewer than 5" in toolbox.effects(rows[:3], "y", {"a": 0}, people=["who"])["notes"][0]
    assert toolbox.effects([], "y", {"a": 0})["notes"] == ["there are no observations"]
    assert all(row["low"] is None for row in few["terms"] if row["note"])


def test_a_level_of_one_unit_leaves_other_comparisons_their_intervals():
    rng = np.random.default_rng(5)
    rows = [{"y": float(rng.normal()), "a": "c" if n == 0 else "ab"[n % 2], "unit": n} for n in range(20)]
    first, second = (toolbox.effects(part, "y", {"a": "a"}, group="unit")["terms"] for part in (rows, rows[1:]))
    by_term = {term["term"]: term for term in first}
    assert by_term["a=c"]["se"] is None and by_term["a=c"]["estimate"] is not None
    # The lone unit adds nothing to the comparison of the others but its count.
    assert by_term["a=b"]["se"] == pytest.approx(second[1]["se"] * (19 / 20) ** 0.5 / (18 / 19) ** 0.5)


def test_shares_use_the_units():
    independent = [{"y": n < 30, "unit": n} for n in range(100)]
    joined = [{"y": n < 30, "unit": n // 5} for n in range(100)]
    alone, together = (toolbox.share(rows, "y", group="unit") for rows in (independent, joined))
    assert alone["estimate"] == together["estimate"] == 0.3
    assert (alone["clusters"], together["clusters"]) == (100, 20)
    assert together["high"] - together["low"] > 2 * (alone["high"] - alone["low"])
    wilson = toolbox.proportion(30, 100)
    assert (alone["low"], alone["high"]) == pytest.approx((wilson["low"], wilson["high"]), abs=0.003)
    assert "fewer than 5" in toolbox.share([{"y": 1, "unit": 1}] * 9, "y", group="unit")["note"]


def analysed(folder, to, *only):
    """Return the report's text and the numbers by analysis, as the command writes them."""
    parser = ArgumentParser()
    add_arguments(parser)
    given = parser.parse_args([str(folder), "--to", str(to), "--only", ",".join(only), "--draws", "20"])
    assert run(given, print, print) == 0
    results = json.loads((to / "results.json").read_text())
    return (to / "report.html").read_text(), {entry["id"]: entry for entry in results["analyses"]}


def test_the_headline_is_clustered_and_nothing_beside_it(tmp_path):
    """Sixty people in ten sessions: the p-value is that of ten units, in the table, the figure and results.json."""
    rows = meetings(np.random.default_rng(11))
    folder = dataset(tmp_path / "data", {"matches": rows})
    report, results = analysed(folder, tmp_path / "out", "general.effects", "general.outcomes")
    number = results["general.effects"]["numbers"]["efficiency: config_rounds=2"]
    for row in rows:
        row["session"] = row["participant_alice"].split(".")[0]
    estimates, errors, df = brute_force(rows, "efficiency", [lambda row: row["config_rounds"] == 2], "session")
    sign = 1 if number["estimate"] * estimates[1] > 0 else -1
    assert [number[key] for key in ("estimate", "se", "df")] == pytest.approx([sign * estimates[1], errors[1], df[1]])
    assert (number["clusters"], number["components"], number["method"]) == (10, 5, "CR3")
    figure = json.loads((tmp_path / "out/figures/general.effects.effects.json").read_text())
    assert str(number["low"]) in json.dumps(figure), "the forest plot shows the same interval"
    assert results["general.outcomes"]["numbers"]["efficiency"]["clusters"] == 10
    written = report + json.dumps(results) + (tmp_path / "out/tables/general.effects.coefficients.csv").read_text()
    assert "lassical" not in written
    assert "Only 10 independent units" in report


def test_seats_of_people_who_meet_again_are_one_unit(tmp_path):
    """Three players of one kind in each of twelve matches, drawn from six groups: six units, not 36 or twelve."""
    rng, matches, seats = np.random.default_rng(6), [], []
    for number in range(12):
        people = {role: f"p{number % 6}.{index}" for index, role in enumerate(("p1", "p2", "p3"))}
        matches.append({**match(number, config_rounds=1 + number % 2),
                        **{f"player_{role}": "human" for role in people},
                        **{f"participant_{role}": person for role, person in people.items()}})  # fmt: skip
        for name in ("player_alice", "player_bob", "participant_alice", "participant_bob"):
            matches[-1].pop(name)
        seats += [{"match": matches[-1]["match"], "role": role, "kind": "player", "payoff": float(rng.normal())}
                  for role in people]  # fmt: skip
    data = load(dataset(tmp_path / "data", {"matches": matches, "seats": seats}))
    number = data.run("general.effects").numbers["payoff: config_rounds=2"]
    assert (number["n"], number["clusters"], number["components"]) == (36, 6, 3)


def replays(number: int, rounds: int, **columns):
    """Return matches of two scripts that always play the same, and their moves."""
    matches = [match(index, config_rounds=1 + index % rounds, efficiency=0.2 + 0.6 * (index % rounds), seed=index,
                     **columns) for index in range(number)]  # fmt: skip
    moves = [{"match": row["match"], "move_number": 1, "role": "alice", "move_offer": 10.0 * row["config_rounds"]}
             for row in matches]  # fmt: skip
    return matches, moves


def test_identical_replays_have_no_interval_and_say_why(tmp_path):
    matches, moves = replays(80, 2)
    folder = dataset(tmp_path / "data", {"matches": matches, "decisions": moves})
    report, results = analysed(folder, tmp_path / "out", "general.effects", "general.outcomes")
    effect = results["general.effects"]["numbers"]["efficiency: config_rounds=2"]
    assert abs(effect["estimate"]) == pytest.approx(0.6)
    assert [effect[key] for key in ("se", "low", "high", "p")] == [None] * 4
    assert (effect["method"], effect["clusters"]) == ("exact", 2)
    assert results["general.outcomes"]["numbers"]["efficiency"]["low"] is None
    assert "more repetitions add nothing" in report


def test_matches_are_replays_only_if_the_moves_are_the_same(tmp_path):
    matches, moves = replays(80, 2)
    for number, move in enumerate(moves):
        move["move_offer"] += number
    data = load(dataset(tmp_path / "data", {"matches": matches, "decisions": moves}))
    assert data.clusters.nunique() == 80
    people = [{**row, "player_alice": "human", "participant_alice": f"p{row['match']}"} for row in matches]
    data = load(dataset(tmp_path / "people", {"matches": people, "decisions": replays(80, 2)[1]}))
    assert data.clusters.nunique() == 80, "what people do alike is no replay"
    paired = [{**row, "seed": row["seed"] // 4} for row in matches]
    data = load(dataset(tmp_path / "paired", {"matches": paired, "decisions": moves}))
    assert data.clusters.nunique() == 40, "one seed in one configuration is one unit"


def arrivals(lost_by_cell, *, stage: str):
    """Return participants of two cells, of whom some were lost at a stage."""
    people = []
    for cell, (lost, number) in enumerate(lost_by_cell, start=1):
        for index in range(number):
            kept = index >= lost
            people.append({"participant": f"p{len(people)}", "person": f"p{len(people)}", "match": None,
                           "stage": "in_dataset" if kept else stage, "role": "alice", "cell": cell, "version": 1,
                           "in_dataset": kept})  # fmt: skip
    return people


@pytest.mark.slow
def test_people_lost_before_the_game_are_counted(tmp_path):
    """Thirteen of 35 against one of 25, all lost before they began: among those who began, nobody is missing."""
    people = arrivals([(13, 35), (1, 25)], stage="consented")
    for number, person in enumerate(people):
        person["survey_before_age"] = 20.0 + number % 7 if person["in_dataset"] else None
    cells = [{"version": 1, "cell": cell, "quota": 30, "seats": '{"alice": "person"}'} for cell in (1, 2)]
    folder = dataset(tmp_path / "data", {"matches": [match(1)], "participants": people, "cells": cells})
    report, results = analysed(folder, tmp_path / "out", "general.attrition", "general.balance")
    assert results["general.balance"]["numbers"]["arrivals"]["n"] == results["general.balance"]["n"]["people"] == 60
    assert "46 of 60 people randomised" in report
    numbers = results["general.attrition"]["numbers"]
    assert numbers["Cell"]["p"] < 0.01 and numbers["all"]["n"] == 60
    assert numbers["Cell"]["estimate"] == pytest.approx(13 / 35 - 1 / 25)
    assert numbers["began: all"]["n"] == 46 and numbers["began: Cell"]["p"] is None
    assert "lost differently by cell (cell 1 − cell 2: 33 points)" in report
    arms = load(folder).run("general.attrition").tables["arms"].frame
    assert arms[["arrived", "began", "in_dataset"]].to_numpy().tolist() == [[35, 22, 22], [25, 24, 24]]


def test_people_who_met_are_lost_together(tmp_path):
    """Four of five groups of six lost in one cell, none in the other: with ten units p is not that of sixty people."""
    people = arrivals([(24, 30), (0, 30)], stage="began")
    excluded = [{"participant": person["participant"], "match": f"x{number // 6}"}
                for number, person in enumerate(people) if not person["in_dataset"]]  # fmt: skip
    matches = []
    for number, person in enumerate(people):
        if person["in_dataset"]:
            person["match"] = f"m{number // 6:06}"
            if number % 6 == 0:
                matches.append(match(number // 6))
    tables = {"matches": matches, "participants": people}
    alone, together = (
        load(dataset(tmp_path / name, {**tables, "excluded": rows})).run("general.attrition")
        for name, rows in (("alone", [{"participant": "nobody", "match": None}]), ("together", excluded))
    )
    tests = together.tables["tests"].frame.set_index("factor")
    assert tests.loc["Cell", "test"].iloc[0] == "permutation of units"
    assert 0.02 < together.numbers["Cell"]["p"] < 0.1
    assert alone.numbers["Cell"]["p"] < together.numbers["Cell"]["p"]


WORLDS = [{"by_session": True}, {"by_session": False}, {"sessions": 30, "people": 2, "rounds": 5}]
"""Arms set by session or by match; pairs who meet five times. None has an effect."""


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_few_false_positives_when_people_meet_again(world):
    rng, small = np.random.default_rng(4), 0
    for _dataset in range(60):
        rows, people = meetings(rng, **world), ["participant_alice", "participant_bob"]
        small += toolbox.effects(rows, "efficiency", {"config_rounds": 1}, people=people)["terms"][1]["p"] < 0.05
    assert small <= 8


@pytest.mark.slow
@pytest.mark.parametrize("world", WORLDS)
def test_five_percent_of_false_positives_in_whole_analyses(tmp_path, world, monkeypatch):
    monkeypatch.setattr("analysis.charts.drawn", lambda table, chart: Figure("effects", "", {}, ""))
    rng, small = np.random.default_rng(5), 0
    for number in range(400):
        data = load(dataset(tmp_path / str(number), {"matches": meetings(rng, **world)}))
        small += next(iter(data.run("general.effects").numbers.values()))["p"] < 0.05
    assert 0.02 <= small / 400 <= 0.085
