"""Any change after the export is detected."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from exports import derived, manifest
from exports.errors import Unreadable
from exports.tests.test_dataset import FILES
from exports.verify import examine, verify
from games import registry

pytestmark = pytest.mark.django_db  # for the dataset


def reseal(folder: Path) -> None:
    """Update the manifest's hashes to match the changed files, as a forger would."""
    listed = manifest.read((folder / manifest.FILE).read_text())
    files = {
        name: entry.model_copy(
            update={
                "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
                "bytes": (folder / name).stat().st_size,
            }
        )
        for name, entry in listed.files.items()
    }
    (folder / manifest.FILE).write_text(listed.model_copy(update={"files": files}).rendered(), newline="")


def edit_csv(path: Path, column: str, change, *, row: int = 0) -> None:
    with path.open(encoding="utf-8", newline="") as opened:
        table = list(csv.reader(opened))
    at = table[0].index(column)
    table[row + 1][at] = change(table[row + 1][at])
    buffer = io.StringIO()
    csv.writer(buffer).writerows(table)
    path.write_text(buffer.getvalue(), encoding="utf-8", newline="")


def edit_transcript(folder: Path, change) -> None:
    path = folder / "transcripts.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    change(lines[0])
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), newline="")


def test_an_untouched_dataset_agrees(dataset):
    verification = examine(dataset)
    assert verification.differences == []
    psych_ds_files = sum(path.is_file() for path in (dataset / "psych-ds").rglob("*"))
    assert (verification.files, verification.matches) == (len(FILES) - 1 + psych_ds_files, 2)
    assert verification.decisions > 10


@pytest.mark.parametrize("fraction", [0.0, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("name", sorted(FILES))
def test_any_changed_byte_is_detected(dataset, name, fraction):
    content = bytearray((dataset / name).read_bytes())
    index = min(int(fraction * len(content)), len(content) - 1)
    content[index] = content[index] ^ 1
    (dataset / name).write_bytes(content)
    try:
        assert verify(dataset) != []
    except Unreadable:
        assert name == manifest.FILE


@pytest.mark.parametrize("name", sorted(FILES - {"manifest.json"}))
def test_a_missing_file_is_detected(dataset, name):
    (dataset / name).unlink()
    assert any(name in difference for difference in verify(dataset))


@pytest.mark.parametrize("table", [name for name in derived.ROWS if name not in ("rounds", "chat")])
def test_every_changed_column_is_named_despite_forged_hashes(dataset, table):
    path = dataset / f"{table}.csv"
    with path.open(encoding="utf-8", newline="") as opened:
        columns = [name for name in next(csv.reader(opened)) if name != "match"]
    for column in columns:
        edit_csv(path, column, lambda value: f"1{value}" if value.replace(".", "").isdigit() else "7")
    reseal(dataset)
    differences = verify(dataset)
    unnamed = [
        column for column in columns if not any(d.startswith(f"{table}.csv: row 1: {column} is") for d in differences)
    ]
    assert unnamed == []


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("matches", "agreement", "FALSE"), ("matches", "player_bob", "script:random"), ("matches", "in_dataset",
        "FALSE"),
        ("matches", "match", "another"), ("decisions", "role", "bob"), ("decisions", "move", "{}"),
        ("decisions", "move_decision", "accept"), ("decisions", "match", "another"), ("messages", "text",
        "Half for me!"),
        ("messages", "match", "another"), ("participants", "in_dataset", "FALSE"), ("participants", "reason", "pilot"),
        ("participants", "stage", "began"), ("flow", "participants", "7"), ("codebook", "column", "another"),
        ("codebook", "meaning", ""),
    ],
)  # fmt: skip
def test_a_changed_value_is_detected_despite_forged_hashes(dataset, table, column, value):
    edit_csv(dataset / f"{table}.csv", column, lambda _old: value)
    reseal(dataset)
    assert verify(dataset) != []


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line["payoffs"].update(alice=line["payoffs"]["alice"] + 0.01),
        lambda line: line["metrics"].update(agreement=False),
        lambda line: line["events"][-1]["payoffs"].update(bob=0),
        lambda line: line["events"][1]["move"].update(alice_gain=6001.0, bob_gain=3999.0),
        lambda line: line["events"][1]["move"].update(message="something else"),
        lambda line: line["events"][2]["move"].update(decision="accept"),
        lambda line: line["events"].pop(),
        lambda line: line["events"].pop(0),
        lambda line: line["config"].update(delta_bob=0.95),
        lambda line: line["config"].update(nonsense=1),
        lambda line: line.update(seed=line["seed"] + 1),
        lambda line: line.update(game="nonsense"),
        lambda line: line.update(match="another"),
        lambda line: line["players"].update(bob="human"),
        lambda line: line.pop("players"),
        lambda line: line.update(events="none"),
        lambda line: line["events"][1]["turn"].update(seconds=line["events"][1]["turn"]["seconds"] + 5),
        lambda line: line["events"][1]["turn"].update(answered_at="2020-01-01T00:00:01.000000Z"),
        lambda line: line["events"][1]["turn"].update(round=9),
        lambda line: line["seats"]["bob"].update(agent="another"),
    ],
)
def test_a_changed_transcript_is_detected_despite_forged_hashes(dataset, change):
    edit_transcript(dataset, change)
    reseal(dataset)
    assert verify(dataset) != []


@pytest.mark.parametrize(
    "name", ["matches.csv", "decisions.csv", "messages.csv", "participants.csv", "transcripts.jsonl"]
)
def test_a_missing_row_is_detected_despite_forged_hashes(dataset, name):
    lines = (dataset / name).read_bytes().splitlines(keepends=True)
    (dataset / name).write_bytes(b"".join(lines[:-1]))
    reseal(dataset)
    assert verify(dataset) != []


def test_newer_rules_are_given_as_the_reason(dataset, monkeypatch):
    monkeypatch.setattr(registry.get("bargaining"), "rules_version", 99)
    differences = verify(dataset)
    assert any("rules version" in difference and "newer version 99" in difference for difference in differences)


# ---- the command ------------------------------------------------------------------------------------------


def test_the_command_reports_counts_and_needs_no_database(dataset, capsys):
    call_command("verify_dataset", str(dataset))
    out = capsys.readouterr().out
    assert "2 matches" in out and "decisions checked: everything agrees." in out


def test_the_command_exits_with_1_on_a_difference_and_lists_it(dataset, capsys):
    edit_csv(dataset / "matches.csv", "payoffs_alice", lambda value: f"1{value}")
    with pytest.raises(CommandError) as refused:
        call_command("verify_dataset", str(dataset))
    assert refused.value.returncode == 1
    assert "payoffs_alice is" in capsys.readouterr().out


@pytest.mark.parametrize("content", [None, "", "{}", "nonsense", '{"format": "another"}'])
def test_the_command_exits_with_2_without_a_dataset(tmp_path, content):
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(CommandError) as refused:
        call_command("verify_dataset", str(tmp_path))
    assert refused.value.returncode == 2
    assert "\n" not in str(refused.value)
