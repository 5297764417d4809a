"""Every analysis finishes on every kind of dataset, and its results can be written and read."""

from __future__ import annotations

import json
from html import escape

import pandas as pd
import pytest

from analysis import load, output
from analysis.options import Options
from analysis.registry import analyses
from analysis.running import run_analysis
from analysis.tables import csv_bytes, html_table, latex_table
from analysis.tests.building import write_manifest
from analysis.tests.conftest import GAMES

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("error::DeprecationWarning"),
    pytest.mark.filterwarnings("error::FutureWarning"),
]
QUICK = Options(draws=20)
OF_MATCHES = ("seats", "rounds", "decisions", "messages", "llm_calls", "tool_calls")


def truncated(source, target, *, matches: int):
    """Copy the dataset with only its first matches and the rows that belong to them."""
    target.mkdir()
    kept_matches = pd.read_csv(source / "matches.csv", dtype=str).head(matches)
    for path in sorted(source.glob("*.csv")):
        frame = pd.read_csv(path, dtype=str)
        if path.stem == "matches":
            frame = kept_matches
        elif path.stem in OF_MATCHES:
            frame = frame[frame["match"].isin(kept_matches["match"])]
        elif path.stem in ("participants", "signals", "payments", "excluded") and not matches:
            frame = frame[:0]
        elif path.stem == "participants":
            frame = frame[frame["match"].isin(kept_matches["match"])]
        frame.to_csv(target / path.name, index=False)
    return write_manifest(target)


def check_contract(folder, chosen=None, *, draw: bool = False) -> dict[str, str]:
    """Run analyses (all, or those in `chosen`) on the dataset; return the status of each analysis."""
    data = load(folder)
    outcomes = [run_analysis(analysis, data, QUICK) for analysis in chosen or analyses()]
    assert [f"{outcome.analysis.id}: {outcome.reason}" for outcome in outcomes if outcome.status == "failed"] == []
    for outcome in outcomes:
        assert bool(outcome.reason) == (outcome.status == "skipped")
        for table in outcome.tables.values():
            assert {column.name for column in table.columns} <= set(table.frame.columns)
            assert csv_bytes(table) and html_table(table) and latex_table(table)
        for figure in outcome.figures.values():
            assert figure.alt.endswith(".") and figure.title in figure.alt + figure.title
            json.dumps(figure.spec, allow_nan=False)
            if draw:
                assert f"<desc>{escape(figure.alt)}</desc>" in figure.svg()
        json.dumps(output._result(outcome), allow_nan=False)
    return {outcome.analysis.id: outcome.status for outcome in outcomes}


@pytest.mark.parametrize("game", GAMES)
def test_published_analyses_on_every_game(tiny, game):
    published = [analysis for analysis in analyses() if analysis.system != "general"]
    statuses = check_contract(tiny(game), published)
    of_game = {analysis.id for analysis in published if game in analysis.games}
    assert not of_game or any(statuses[name] == "done" for name in of_game)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES)
def test_all_analyses_on_every_game(tiny, game):
    statuses = check_contract(tiny(game))
    assert statuses["general.flow"] == statuses["general.outcomes"] == "done"


@pytest.mark.parametrize("draw", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_all_analyses_on_people(people, draw):
    statuses = check_contract(people, draw=draw)
    skipped = {name for name, status in statuses.items() if status == "skipped" and name.startswith("general.")}
    assert skipped == {"general.human_vs_model", "general.order", "general.leaderboard"}


@pytest.mark.parametrize(
    "matches",
    [
        pytest.param(0, id="no match"),
        pytest.param(1, id="one match"),
        pytest.param(2, id="one group", marks=pytest.mark.slow),
    ],
)
def test_all_analyses_on_tiny_datasets(people, tmp_path, matches):
    check_contract(truncated(people, tmp_path / "cut", matches=matches))
