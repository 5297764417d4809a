"""Invalid input is reported in one sentence, or one per analysis, and with an exit code."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from analysis import load
from analysis.__main__ import main
from analysis.errors import DataError
from analysis.options import Options
from analysis.registry import analyses
from analysis.results import Analysis, Result
from analysis.running import run_analysis
from analysis.tables import Table, csv_bytes, html_table, latex_table, text
from analysis.tests.building import dataset, match, write_manifest


def rows(number: int = 8, **columns):
    return [
        match(index, efficiency=0.5 + index / 100, config_rounds=1 + index % 2, **columns) for index in range(number)
    ]


@pytest.fixture
def valid(tmp_path) -> Path:
    return dataset(tmp_path / "good", {"matches": rows()})


@pytest.fixture
def analyse(monkeypatch, capsys):
    """Return a function that runs the command with given arguments: (exit code, text on standard error)."""

    def run(*arguments: object) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["analysis", *map(str, arguments)])
        code = main()
        return code, capsys.readouterr().err

    return run


ONE_ANALYSIS = ("--only", "general.outcomes", "--draws", 20)


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (None, "no manifest.json"), ("{", "cannot be read"), ({"format": "something-else"}, "parley-dataset"),
        ({"format_version": 7}, "format version 7"), ("absent", "not a folder"),
    ],
)  # fmt: skip
def test_invalid_datasets_are_refused(tmp_path, analyse, manifest, message):
    folder = tmp_path / "data"
    if isinstance(manifest, dict):
        dataset(folder, {"matches": rows()}, **manifest)
    elif manifest != "absent":
        folder.mkdir()
    if manifest == "{":
        (folder / "manifest.json").write_text(manifest)
    code, errors = analyse(folder, "--to", tmp_path / "out")
    assert (code, message in errors, len(errors.splitlines())) == (2, True, 1), errors
    assert not (tmp_path / "out").exists()


def test_changed_files_are_refused_or_marked_on_every_page(valid, tmp_path, analyse):
    with (valid / "matches.csv").open("a") as file:
        file.write("\n")
    code, errors = analyse(valid, "--to", tmp_path / "out", *ONE_ANALYSIS)
    assert code == 2 and "matches.csv" in errors and not (tmp_path / "out").exists()
    assert analyse(valid, "--to", tmp_path / "out", *ONE_ANALYSIS, "--allow-modified")[0] == 0
    for page in [tmp_path / "out" / "report.html", *(tmp_path / "out" / "tables").glob("*.html")]:
        assert "after the export: good/matches.csv" in page.read_text()


def test_nonempty_folders_are_not_overwritten(valid, tmp_path, analyse):
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("kept")
    for replace in [(), ("--replace",)]:
        code, errors = analyse(valid, "--to", out, *ONE_ANALYSIS, *replace)
        assert code == 2 and len(errors.strip().splitlines()) == 1
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


def test_only_output_of_an_earlier_analysis_is_replaced(valid, tmp_path, analyse):
    out = tmp_path / "out"
    assert analyse(valid, "--to", out, *ONE_ANALYSIS)[0] == 0
    assert analyse(valid, "--to", out, *ONE_ANALYSIS)[0] == 2
    assert analyse(valid, "--to", out, "--only", "general.power", "--replace")[0] == 0
    assert not list((out / "tables").glob("general.outcomes*"))
    (out / "tables" / "notes.docx").write_text("mine")
    assert analyse(valid, "--to", out, *ONE_ANALYSIS, "--replace")[0] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good", "out"]


def test_duplicate_matches_and_other_games_are_refused(valid, tmp_path, analyse):
    code, errors = analyse(valid, valid, "--to", tmp_path / "out")
    assert code == 2 and "m000000" in errors
    other_game = dataset(tmp_path / "other", {"matches": [match(99, game="chess")]})
    code, errors = analyse(valid, other_game, "--to", tmp_path / "out")
    assert code == 2 and "chess" in errors and "toy" in errors


@pytest.mark.slow
def test_missing_tables_and_columns_skip_analyses(valid):
    outcomes = [run_analysis(analysis, load(valid), Options()) for analysis in analyses()]
    reasons = {outcome.analysis.id: outcome.reason for outcome in outcomes}
    assert reasons["general.models"].endswith("no table llm_calls.")
    folder = dataset(valid.parent / "few", {"matches": [{"match": "m1", "game": "toy"}]})
    assert load(folder).run("general.outcomes").reason.endswith("matches has no column player_*.")


def test_one_group_gives_estimates_without_intervals(tmp_path):
    data = load(dataset(tmp_path / "one", {"matches": [match(1, efficiency=0.4)]}))
    number = data.run("general.outcomes").numbers["efficiency"]
    assert (number["estimate"], number["n"]) == (0.4, 1)
    assert number["low"] != number["low"] or number["low"] is None
    assert "No parameter varies" in data.run("general.effects").reason


def test_unusable_numbers_are_left_out_and_counted(tmp_path):
    folder = dataset(tmp_path / "odd", {"matches": [match(n, efficiency=v) for n, v in enumerate([0.5, 0.7, 0.6])]})
    file = folder / "matches.csv"
    file.write_text(file.read_text().replace("0.7", "inf").replace("0.6", "many"))
    outcome = load(write_manifest(folder)).run("general.outcomes")
    assert outcome.numbers["efficiency"]["n"] == 1
    assert any("matches.efficiency: 2 values" in warning for warning in outcome.result.warnings)


def test_negative_times_are_left_out_and_counted(tmp_path):
    folder = dataset(tmp_path / "times", {"matches": [match(1, seconds=-3.0), match(2, seconds=4.0)]})
    data = load(folder)
    assert data.matches["seconds"].tolist()[1:] == [4.0]
    assert data.invalid_values["matches", "seconds"] == 1


def test_failing_analysis_does_not_stop_others(valid, tmp_path, analyse, monkeypatch):
    def run(data, options):
        raise ValueError("text of a participant")

    failing = Analysis(id="general.bad", title="Bad", question="?", method=".", run=run)
    monkeypatch.setattr("analysis.registry.analyses", lambda: (failing, *analyses()))
    assert analyse(valid, "--to", tmp_path / "out", "--only", "general.bad,general.outcomes")[0] == 1
    report = json.loads((tmp_path / "out" / "results.json").read_text())
    results = {result["id"]: result for result in report["analyses"]}
    assert results["general.outcomes"]["status"] == "done"
    assert results["general.bad"]["reason"].startswith("ValueError in test_bad_input.run, line ")
    assert "text of a participant" not in (tmp_path / "out" / "report.html").read_text()


def test_markup_formulas_and_tex_are_escaped(tmp_path):
    markup = '=1+1;</td><script>alert(1)</script> 50% of $x_1$ & "more" \\input{x}'
    table = Table("t", markup, [text("who", markup)], [{"who": markup}, {"who": "a\t=2"}], note=markup)
    html, tex, csv = html_table(table), latex_table(table), csv_bytes(table).decode()
    assert "<script" not in html and "&lt;script&gt;" in html
    assert r"50\% of \$x\_1\$ \&" in tex and r"\input" not in tex and r"\textbackslash{}input\{x\}" in tex
    assert csv.splitlines()[1].startswith("\"'=1+1") and "\t'=2" in csv
    folder = dataset(tmp_path / "evil", {"matches": rows(player_alice="<script>alert(1)</script>")})
    figure = load(folder).run("general.outcomes").figures["outcomes"]
    assert "<script" not in figure.svg()


def test_the_same_input_gives_the_same_bytes(valid, tmp_path, analyse):
    def written(folder: Path) -> dict[str, bytes]:
        return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    for name in ("one", "two"):
        assert analyse(valid, "--to", tmp_path / name, *ONE_ANALYSIS)[0] == 0
    assert written(tmp_path / "one") == written(tmp_path / "two")
    assert set(written(tmp_path / "one")) == {
        "report.html", "methods.md", "results.json",
        "figures/general.outcomes.outcomes.svg", "figures/general.outcomes.outcomes.png",
        "figures/general.outcomes.outcomes.json",
        *(f"tables/general.outcomes.{name}.{end}" for name in ("cells", "factors") for end in ("csv", "tex", "html")),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("manifest", "stamp"),
    [
        ({"demonstration": True}, "Demonstration data, not research data"),
        ({"study": {"title": "A study", "purpose": "simulated"}}, "Simulated data, not research data"),
    ],
)
def test_data_that_are_not_research_are_stamped_and_skipping_is_not_failing(tmp_path, analyse, manifest, stamp):
    folder = dataset(tmp_path / "demo", {"matches": rows()}, **manifest)
    assert analyse(folder, "--to", tmp_path / "out", "--only", "general.messages,general.power")[0] == 0
    assert stamp in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("words", [("--level", "95"), ("--draws", "0"), ("--seed", "x")])
def test_invalid_options_are_refused(valid, tmp_path, analyse, words):
    with pytest.raises(SystemExit) as exit_info:
        analyse(valid, "--to", tmp_path / "out", *words)
    assert exit_info.value.code == 2


def test_unknown_analyses_and_systems_are_refused(valid, tmp_path, analyse):
    assert "general.nothing" in analyse(valid, "--to", tmp_path / "out", "--only", "general.nothing")[1]
    assert analyse(valid, "--to", tmp_path / "out", "--system", "chess")[0] == 2
    with pytest.raises(DataError):
        load()


def test_excluded_rows_are_left_out(tmp_path):
    matches = [*rows(2), {**match(9), "in_dataset": False}]
    moves = [{"match": row["match"], "role": "alice", "round": 1} for row in matches]
    data = load(dataset(tmp_path / "all", {"matches": matches, "decisions": moves}))
    assert (len(data.matches), len(data.decisions), len(data.players_by_role)) == (2, 2, 2)
    assert len(data.table("matches", everything=True)) == 3


def test_results_record_options_and_dataset(valid, tmp_path, analyse):
    assert analyse(valid, "--to", tmp_path / "out", *ONE_ANALYSIS, "--seed", 7)[0] == 0
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert (results["format"], results["format_version"], results["options"]["seed"]) == ("parley-analysis", 2, 7)
    assert results["dataset"]["sha256"] == load(valid).sha256
    assert set(results["analyses"][0]) == {
        "id", "status", "reason", "n", "numbers", "tables", "figures", "warnings",
    }  # fmt: skip
    assert Result().n == {}
