"""Published games in the database: stored separately from ours, recomputed, exported, and imported again."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from analysis import load
from collecting.models import Collection, Item
from exports import glee_files
from exports.dataset import export
from exports.errors import UnknownFormat
from exports.glee.tests.sample import BROKEN, write_sample
from exports.importing import import_matches
from exports.systems.glee import SYSTEM
from exports.tests import building
from exports.verify import verify
from games.play import replay_events
from matches.models import Event, Match

pytestmark = [pytest.mark.services, pytest.mark.django_db]
FAMILIES = ["bargaining", "negotiation", "persuasion"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """Sixty complete games, and one of every broken kind."""
    root = tmp_path_factory.mktemp("published")
    write_sample(root, 60, seed=4, broken=BROKEN)
    return root


def lines(capsys, *arguments: str) -> tuple[list[dict[str, Any]], str]:
    """Return what `import_glee` prints on both streams."""
    call_command("import_glee", *arguments)
    out, err = capsys.readouterr()
    return [json.loads(line) for line in out.splitlines()], err


def results(games: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return what must not change from one import to the next, whatever the games' names."""
    keys = ("family", "config", "payoffs", "metrics", "players", "unverified")
    return sorted((json.dumps([game[key] for key in keys], sort_keys=True),) for game in games)


def test_dry_run_prints_the_same_and_stores_nothing(tree, capsys):
    dry_printed, dry_errors = lines(capsys, str(tree), "--json", "--dry-run")
    assert not Collection.objects.exists()
    assert not Match.objects.exists()
    printed, printed_errors = lines(capsys, str(tree), "--json")
    assert printed == dry_printed
    assert Match.objects.count() == len(dry_printed)
    count = next(line for line in dry_errors.splitlines() if "games read" in line)
    assert count in printed_errors
    assert set(dry_printed[0]) == {"game_id", "family", "config", "payoffs", "metrics", "players", "unverified"}


def test_unreadable_games_are_counted_and_the_rest_imported(tree):
    result = import_matches(SYSTEM, tree, name="glee")
    assert result.matches + len(result.unreadable) == 60 + len(BROKEN)
    assert result.unverified == 2
    assert all(game.path and game.reason for game in result.unreadable)
    assert {key: c.planned for key, c in result.collections.items()} == {
        key: Item.objects.filter(collection=result.collections[key]).count() for key in FAMILIES
    }


def test_imported_matches_are_marked_and_replayed_by_the_rules(tree):
    import_matches(SYSTEM, tree, name="glee")
    for collection in Collection.objects.all():
        assert (collection.source, collection.status) == ("glee", "done")
    for item in Item.objects.select_related("match"):
        match = item.match
        assert (match.purpose, match.status) == ("imported", "finished")
        if not item.unverified:
            play = replay_events(match.configured(), match.log())
            assert (play.payoffs(), play.metrics()) == (match.payoffs, match.metrics)
        assert item.decisions == Event.objects.filter(match=match, kind="move").count()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_dataset_in_glee_layout_imports_with_the_same_results(tree, tmp_path, family, capsys):
    imported, _err = lines(capsys, str(tree), "--json")
    target = tmp_path / "d"
    call_command("export_dataset", f"glee-{family}", "--to", str(target), "--formats", "csv,jsonl,glee")
    assert verify(target) == []
    with (target / "matches.csv").open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert {(row["purpose"], row["source"], row["started_at"]) for row in rows} == {("imported", "glee", "")}
    assert sum(bool(row["unverified"]) for row in rows) == sum(
        game["unverified"] is not None for game in imported if game["family"] == family
    )
    capsys.readouterr()
    reprinted, _err = lines(capsys, str(target), "--json", "--dry-run")
    assert results(reprinted) == results([game for game in imported if game["family"] == family])
    assert {game["game_id"] for game in reprinted} == {row["name"] for row in rows}


def test_no_names_of_people_are_exported(tree, tmp_path):
    import_matches(SYSTEM, tree, name="glee")
    names = {name for item in Item.objects.all() for name in item.names}
    assert names
    for family in FAMILIES:
        export(Collection.objects.get(game=family), tmp_path / family, ["csv", "jsonl", "glee"])
    for path in tmp_path.rglob("*"):
        if path.is_file():
            text = path.read_text("utf-8")
            assert not [name for name in names if name in text], path.name


def test_a_changed_file_of_the_layout_is_detected(tree, tmp_path):
    import_matches(SYSTEM, tree, name="glee")
    target = tmp_path / "d"
    export(Collection.objects.get(game="bargaining"), target, ["glee"])
    assert verify(target) == []
    changed, missing, *_rest = sorted((target / "glee").rglob("game.csv"))
    changed.write_text(changed.read_text() + "\n")
    missing.unlink()
    (target / "glee" / "more.txt").write_text("more")
    assert len(verify(target)) == 3


def test_own_matches_in_glee_layout_import_with_the_same_results(tmp_path, capsys):
    study = building.new_study()
    building.complete(study, worker="A1")
    (match,) = Match.objects.all()
    export(study, tmp_path / "d", ["glee"])
    (game,), _err = lines(capsys, str(tmp_path / "d"), "--json", "--dry-run")
    assert (game["payoffs"], game["metrics"], game["config"]) == (match.payoffs, match.metrics, match.config)
    assert game["players"] == {"alice": "human", "bob": "script:fair"}


def test_importing_twice_needs_another_name(tree, capsys):
    call_command("import_glee", str(tree))
    before = Match.objects.count()
    with pytest.raises(CommandError, match="another --name") as refused:
        call_command("import_glee", str(tree))
    assert refused.value.returncode == 2
    assert Match.objects.count() == before
    call_command("import_glee", str(tree), "--name", "glee-2")
    assert Match.objects.count() == 2 * before


def test_a_path_that_is_not_a_folder_is_refused(tmp_path):
    with pytest.raises(CommandError, match="is not a folder"):
        call_command("import_glee", str(tmp_path / "nowhere"), "--dry-run")


def test_a_game_outside_the_layout_is_refused(tmp_path, monkeypatch):

    monkeypatch.setattr(glee_files, "ADAPTERS", {"negotiation": None})
    with pytest.raises(UnknownFormat, match="not bargaining"):
        export(building.new_study(), tmp_path / "d", ["glee"])
    assert not (tmp_path / "d").exists()


@pytest.mark.slow
def test_imported_games_are_analysed_by_the_papers_definitions(tree, tmp_path):
    import_matches(SYSTEM, tree, name="glee")
    for family in FAMILIES:
        folder = tmp_path / family
        export(Collection.objects.get(game=family), folder, formats=["parquet"])
        data = load(folder)
        if family == "bargaining":
            for row in data.matches.to_dict("records"):
                alice, bob = row["alice_self_gain"], row["bob_self_gain"]
                assert row["efficiency"] == pytest.approx(alice + bob)
                if row["agreement"]:
                    assert row["fairness"] == pytest.approx(1 - 4 * (row["alice_share"] - 0.5) ** 2)
                else:
                    assert (row["efficiency"], row["fairness"]) == (0, 1)
        market = data.run("glee.market").tables[family]
        titles = {"persuasion": ["CI", "Messages", "Buyer"]}.get(family, ["T", "CI", "MA"])
        assert [column.label for column in market.columns] == [
            *titles, "Efficiency", "Fairness", "Published efficiency", "Published fairness",
        ]  # fmt: skip
        players = data.run("glee.players")
        assert players.tables[family].frame["player"].str.contains("gemini-1.5-flash").any()
        assert players.tables[family].frame["published_alice"].notna().any()
        assert not any("did not play" in warning for warning in players.result.warnings)
