"""Trees of games: found at any depth and read in order on all cores, with broken games reported and the rest read."""

from __future__ import annotations

import os
from itertools import islice

import pytest

from analysis import parallel
from exports.glee import reading
from exports.glee.layout import game_folders
from exports.glee.reading import Unreadable
from exports.glee.tests import sample

REASONS = {
    "no JSON": "config.json is not JSON",
    "no game.csv": "game.csv is missing",
    "no config.json": "config.json is missing",
    "unknown family": "game_type is “auction”",
    "missing column": "game.csv has no column decision",
    "unknown decision": "decision is “perhaps”",
    "truncated": "The game is not over",
}
ILLEGAL = {"wrong sum": "must add up to exactly", "long message": "at most 2000 characters"}


def test_broken_games_are_reported_and_all_others_read(tmp_path):
    kinds_by_path = sample.write_sample(tmp_path, 60, 1, broken=sample.BROKEN)
    outcomes = list(reading.read_tree(tmp_path))
    unreadable = {
        kinds_by_path[outcome.path]: outcome.reason for outcome in outcomes if isinstance(outcome, Unreadable)
    }
    assert set(unreadable) == set(REASONS)
    assert all(REASONS[kind] in reason for kind, reason in unreadable.items())
    illegal = [outcome.unverified for outcome in outcomes if not isinstance(outcome, Unreadable) and outcome.unverified]
    assert len(illegal) == len(ILLEGAL)
    assert all(any(reason in text for text in illegal) for reason in ILLEGAL.values())
    assert len(outcomes) == 60 + len(sample.BROKEN)


@pytest.mark.parametrize("seed", range(3))
def test_all_sample_games_are_legal_under_our_rules(tmp_path, seed):
    sample.write_sample(tmp_path, 90, seed)
    outcomes = list(reading.read_tree(tmp_path))
    assert [outcome for outcome in outcomes if isinstance(outcome, Unreadable) or outcome.unverified] == []
    assert {"human", "gemini-1.5-flash"} < {player for outcome in outcomes for player in outcome.players.values()}
    assert any(outcome.names for outcome in outcomes)


def test_the_same_seed_writes_the_same_tree(tmp_path):
    sample.write_sample(tmp_path / "a", 12, 5)
    sample.write_sample(tmp_path / "b", 12, 5)
    trees = [
        {path.relative_to(tmp_path / tree): path.read_bytes() for path in (tmp_path / tree).rglob("*.*")}
        for tree in ("a", "b")
    ]
    assert trees[0] == trees[1]


def test_several_processes_yield_the_same_order(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "CHUNK", 4)
    sample.write_sample(tmp_path, 40, 2, broken=["truncated", "no JSON"])
    single = list(reading.read_tree(tmp_path, processes=1))
    assert list(reading.read_tree(tmp_path, processes=2)) == single


def test_reading_may_stop_early(tmp_path):
    sample.write_sample(tmp_path, 20, 3)
    assert len(list(islice(reading.read_tree(tmp_path, processes=2), 3))) == 3


def _killed_once(path):
    if not path.exists():
        path.touch()
        os._exit(1)
    return path.name


def test_work_of_a_killed_process_is_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(parallel, "CHUNK", 2)
    paths = [tmp_path / str(number) for number in range(9)]
    for path in (*paths[:4], *paths[5:]):
        path.touch()
    assert list(parallel.in_order(_killed_once, paths, processes=2)) == [path.name for path in paths]


def test_a_game_is_found_at_any_depth_and_by_any_of_its_files(tmp_path):
    for folder, file in [
        ("a", "config.json"),
        ("b/c/d/e", "game.csv"),
        ("b/a", "log_player_1.csv"),
        ("z", "notes.txt"),
    ]:
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / file).touch()
    assert [path.relative_to(tmp_path).as_posix() for path in game_folders(tmp_path)] == ["a", "b/a", "b/c/d/e"]


def test_a_link_back_to_the_root_is_not_followed(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path)
    assert list(reading.read_tree(tmp_path)) == []


def test_a_missing_root_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        reading.read_tree(tmp_path / "nowhere")
