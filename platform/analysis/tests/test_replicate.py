"""The scripts beside the report re-make its planned numbers without Parley."""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys

import numpy as np
import pytest

from analysis.command import analyse
from analysis.options import Options
from analysis.tests.building import dataset, match
from analysis.tests.experiments import experiment, plan

NUMBERS = ("estimate", "se", "df", "p", "low", "high", "p_holm")
HYPOTHESES = (
    {"adjust": ["before.age"], "exclude": ["before.age < 18 or not before.age < 59"]},
    {"name": "trust", "outcome": "after.trust"}, {"name": "gone", "outcome": "talk.nothing"},
    {"name": "payoffs", "outcome": "talk.payoff", "family": "second", "role": "secondary", "model": "log"},
)  # fmt: skip


def single_matches():
    """Return the experiment with payoffs by seat, and some people lost after treatment."""
    tables = experiment(np.random.default_rng(9), people=40, lost={"give": 0.1, "take": 0.3}, excluded=True)
    seats = [{"match": row["match"], "role": role, "player": row[f"player_{role}"], "in_dataset": row["in_dataset"],
              "participant": row[f"participant_{role}"], "payoff": 1 + row["efficiency"] * (role == "alice")}
             for row in tables["matches"] for role in ("alice", "bob")]  # fmt: skip
    excluded = [{"participant": row["participant_alice"], "match": row["match"]} for row in tables["matches"]
                if not row["in_dataset"]]  # fmt: skip
    return {**tables, "seats": seats, "excluded": excluded}, HYPOTHESES


def meetings():
    """Return people who meet again in their sessions, in two orders of two horizons, with agents in some seats."""
    rng, rows = np.random.default_rng(10), []
    for session in range(9):
        skill = rng.normal(size=4)
        for position, level in enumerate(rng.permutation(["long", "short"]), start=1):
            for first, second in ((0, 1), (2, 3)) if position == 1 else ((0, 2), (1, 3)):
                agent = bool(rng.random() < 0.3)
                row = match(len(rows), player_alice="human", player_bob="script:b" if agent else "human",
                            participant_alice=f"p{session}.{first}", seed=len(rows), session=position,
                            participant_bob=None if agent else f"p{session}.{second}", factor_horizon=str(level),
                            factor_wording=("give", "take")[session % 2], config_rounds=1 + 11 * (level == "long"),
                            efficiency=float(skill[first] + rng.normal()), cluster=f"s{session}")  # fmt: skip
                rows.append({**row, "stage": "talk", "pass": str(level), "repeat": 1})
    pair = {"factors": ["horizon", "wording"], "levels": [["long", "short"], ["take", "give"]]}
    return {"matches": rows}, (
        {"name": "horizon", "contrast": {"factor": "horizon", "levels": ["long", "short"]}},
        {"name": "both", "contrast": pair}, {},
        {"name": "people", "contrast": {"players": ["human", "agent"], "role": "bob"}},
    )  # fmt: skip


@pytest.fixture(scope="module", params=[single_matches, pytest.param(meetings, marks=pytest.mark.slow)])
def report(request, tmp_path_factory):
    """Yield a dataset and its report, both as folders."""
    tables, hypotheses = request.param()
    folder = tmp_path_factory.mktemp("replicated")
    dataset(folder / "data", tables, formats=("csv", "parquet"), analysis_plan=plan(*hypotheses))
    analyse([folder / "data"], folder / "report", only=["general.confirmatory"], options=Options(draws=20))
    return folder / "data", folder / "report"


def printed(program, script, data):
    """Return what a script prints, as rows."""
    command = [program, str(script), str(data)]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.splitlines()))


def check(rows, report):
    results = json.loads((report / "results.json").read_text(encoding="utf-8"))
    numbers = results["analyses"][0]["numbers"]
    of_jackknife = {name for name, row in numbers.items() if name.count(":") == 1 and row["method"] == "CR3"}
    assert {f"{row['hypothesis']}: {row['estimand']}" for row in rows} == of_jackknife and len(of_jackknife) >= 6
    for row in rows:
        ours = numbers[f"{row['hypothesis']}: {row['estimand']}"]
        for name in NUMBERS:
            assert float(row[name]) == pytest.approx(ours[name], rel=1e-8, abs=1e-10), (row["hypothesis"], name)
        assert int(float(row["n"])) == ours["n"]


def test_the_python_script_agrees(report):
    data, written = report
    check(printed(sys.executable, written / "replicate.py", data), written)


@pytest.mark.slow
def test_the_python_script_reads_csv_alone(report, tmp_path):
    data, written = report
    shutil.copytree(data, tmp_path / "csv", ignore=shutil.ignore_patterns("*.parquet"))
    check(printed(sys.executable, written / "replicate.py", tmp_path / "csv"), written)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_r_script_agrees(report):
    data, written = report
    check(printed("Rscript", written / "replicate.R", data), written)
