"""A session of oTree as a dataset: sixty people divide a pie in pairs, and keep more when the text says so."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pandas as pd
import pytest
from django.core.management import CommandError, call_command

from analysis import load
from analysis.options import Options
from analysis.registry import get_analysis
from analysis.running import run_analysis
from exports.manifest import read as read_manifest

PAIRS, ROUNDS = 30, 2


def wide_export(file: Path, *, late: int = 3) -> Path:
    """Write what oTree 6 exports of a session of the apps before, pie and after; the last `late` people never came."""
    draw, rows = random.Random(5), []
    arms = ["keep", "share"] * (PAIRS // 2)
    for person in range(2 * PAIRS + late):
        came = person < 2 * PAIRS
        row = {
            "participant.code": f"c{person:07}", "participant.id_in_session": person + 1,
            "participant.label": f"Jo {person}", "participant._is_bot": 0, "participant.visited": int(came),
            "participant.time_started_utc": f"2026-03-01 10:{person % 60:02}:00.000000" if came else "",
            "participant.mturk_worker_id": f"AWORKER{person}" if came else "", "participant.payoff": 0,
            "session.code": "s3k1nrat", "session.config.name": "pie", "session.config.stake": 100,
            "before.1.player.id_in_group": 1, "before.1.group.id_in_subsession": 1, "before.1.player.payoff": 0,
            "before.1.player.age": draw.randrange(20, 60) if came else "",
        }  # fmt: skip
        for number in range(1, ROUNDS + 1):
            pair, first = person // 2, person % 2 == 0
            arm = arms[pair % PAIRS]
            kept = (60 if arm == "keep" else 50) + (pair * 7 + number * 3) % 11
            row |= {
                f"pie.{number}.player.id_in_group": 1 + person % 2, f"pie.{number}.player.role": "",
                f"pie.{number}.player.payoff": (kept if first else 100 - kept) if came else 0,
                f"pie.{number}.player.minutes": 1.5 if came else "", f"pie.{number}.group.id_in_subsession": pair + 1,
                f"pie.{number}.group.kept": kept if came else "", f"pie.{number}.group.arm": arm if came else "",
                f"pie.{number}.group.agreed": 1 if came else "", f"pie.{number}.group.seed": 7 if came else "",
                f"pie.{number}.subsession.round_number": number,
            }  # fmt: skip
        row["after.1.player.trust"] = 1 + person % 7 if came else ""
        rows.append(row)
    with file.open("w", encoding="utf-8", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("otree")
    file = wide_export(home / "all_apps_wide.csv")
    call_command("import_otree", file, to=home / "data", factors="group.arm")
    return home / "data"


def test_each_group_and_round_is_a_match(folder: Path):
    matches = pd.read_parquet(folder / "matches.parquet")
    assert len(matches) == PAIRS * ROUNDS
    first = matches.iloc[0]
    assert (first["game"], first["factor_arm"], first["kept"], first["config_stake"]) == ("pie", "keep", 63, 100)
    assert first["group_seed"] == 7 and "seed" not in matches, "a field may be called like a column of every dataset"
    assert (first["payoffs_p1"], first["payoffs_p2"]) == (63, 37)
    assert (first["participant_p1"], first["participant_p2"]) == ("p000001", "p000002")


def test_other_apps_are_surveys_before_and_after(folder: Path):
    people = pd.read_csv(folder / "participants.csv")
    assert len(people) == 2 * PAIRS
    assert {"survey_before_before_age", "survey_after_after_trust"} <= {*people.columns}


def test_nothing_that_identifies_people_is_read(folder: Path):
    written = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.csv"))
    assert "Jo 4" not in written and "AWORKER" not in written and "c0000003" not in written


def test_manifest_counts_who_never_came_out(folder: Path):
    flow = read_manifest((folder / "manifest.json").read_text(encoding="utf-8")).flow
    assert (flow["arrived"], flow["in_dataset"], flow["matches"]["seen"]) == (60, 60, 60)


def test_people_who_came_have_a_time_and_a_cell(folder: Path):
    people = pd.read_parquet(folder / "participants.parquet")
    assert people["arrived_at"].notna().all() and sorted(set(people["cell"])) == [1, 2]


def test_analyses_find_the_treatment_by_pair(folder: Path):
    """People meet twice, so the thirty pairs are the independent units."""
    data = load(folder)
    outcomes = {
        name: run_analysis(get_analysis(name), data, Options())
        for name in ("general.effects", "general.balance", "general.order", "general.questions")
    }
    assert [outcome.reason for outcome in outcomes.values() if outcome.status != "done"] == []
    table = outcomes["general.effects"].tables["coefficients"].rows
    effect = table[(table["key"] == "kept") & (table["level"] == "share")].iloc[0]
    assert effect["clusters"] == PAIRS and effect["estimate"] == pytest.approx(-10, abs=2)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"app": "cake"}, "No app is called cake"),
        ({"factors": "player.colour"}, "No field is called player.colour"),
    ],
)
def test_what_the_file_does_not_have_is_named(tmp_path: Path, options: dict[str, str], complaint: str):
    file = wide_export(tmp_path / "wide.csv")
    with pytest.raises(CommandError, match=complaint):
        call_command("import_otree", file, to=tmp_path / "data", **options)
    assert not (tmp_path / "data").exists()


def test_another_file_is_refused(tmp_path: Path):
    (tmp_path / "other.csv").write_text(json.dumps({"a": 1}), encoding="utf-8")
    with pytest.raises(CommandError, match="is not oTree's file"):
        call_command("import_otree", tmp_path / "other.csv", to=tmp_path / "data")
