"""What a researcher finds in a dataset's folder."""

from __future__ import annotations

import csv
import hashlib
import json
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from exports import participants
from exports.dataset import export, reading_of, tables_for
from exports.errors import FolderInUse, UnknownFormat
from exports.events import LoggedEvent, logs_of
from exports.tests import building
from exports.verify import verify
from games import registry
from llm_agents.record import CallRecord
from matches import services
from matches.models import Match
from participants.states import State
from payouts.models import LedgerRow
from studies.tests import kit

pytestmark = pytest.mark.django_db

FILES = {
    "matches.csv", "decisions.csv", "messages.csv", "participants.csv", "llm_calls.csv", "tool_calls.csv",
    "payments.csv", "excluded.csv",
    "signals.csv", "behaviour.csv", "behaviour.parquet", "flow.csv", "flow.json",
    "codebook.csv", "codebook.md", "transcripts.jsonl", "versions.json", "plan-v1.yaml",
    "manifest.json", "README.md", "flow.svg",
    "croissant.json", "datacite.json", "psych-ds.sha256", "reporting-checklist.json", "reporting-checklist.md",
    "matches.parquet", "decisions.parquet", "messages.parquet", "participants.parquet", "llm_calls.parquet",
    "tool_calls.parquet", "payments.parquet", "signals.parquet", "excluded.parquet", "flow.parquet", "codebook.parquet",
    *(f"{name}.{end}" for name in ("seats", "rounds", "cells", "excluded_calls", "help") for end in ("csv", "parquet")),
}  # fmt: skip


def rows(folder: Path, table: str) -> list[dict[str, str]]:
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def header(folder: Path, table: str) -> list[str]:
    with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as opened:
        return next(csv.reader(opened))


def transcripts(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "transcripts.jsonl").read_text().splitlines()]


def test_an_export_is_complete_and_verifies(finished_dataset):
    assert {path.name for path in finished_dataset.iterdir()} == FILES | {"psych-ds"}
    assert verify(finished_dataset) == []


def test_moves_of_practice_are_marked_and_count_in_no_row_of_the_game(tmp_path):
    study = building.new_study(game="duopoly", config={"periods": 1, "rival": False, "practice": True}, agents={})
    person = building.read_instructions(building.consent(building.arrive(study, worker="W")))
    match = building.match_of(person)
    for move in ({"price": 3}, {"note": "cheap"}, {"price": 4}, {"price": 5}, {"begin": "now"}, {"price": 1.5}):
        building.move(match, "firm_1", move)
    building.answer(person)
    export(study, tmp_path, ("csv",))
    assert verify(tmp_path) == []
    decisions = [(row["round"], row["phase"]) for row in rows(tmp_path, "decisions")]
    assert decisions == [*[("0", "practice")] * 5, ("1", "submission")]
    assert [(row["round"], row["price"]) for row in rows(tmp_path, "rounds")] == [("1", "1.5")]


def test_the_manifest_describes_the_dataset(finished_dataset):
    manifest = json.loads((finished_dataset / "manifest.json").read_text())
    assert manifest["study"] == {
        "slug": "splitting", "title": "Splitting money", "purpose": "study", "source": "parley",
    }  # fmt: skip
    assert manifest["demonstration"] is False
    assert [version["number"] for version in manifest["versions"]] == [1]
    assert set(manifest["files"]) == FILES - {"manifest.json"}
    for name, entry in manifest["files"].items():
        content = (finished_dataset / name).read_bytes()
        assert entry["sha256"] == hashlib.sha256(content).hexdigest()
        assert entry["bytes"] == len(content)
    assert manifest["counts"]["matches.csv"] == manifest["counts"]["transcripts.jsonl"] == 2
    assert manifest["counts"]["participants.csv"] == manifest["flow"]["arrived"] == 4
    assert manifest["flow"]["excluded"] == {"failed_code_word": 1, "not_finished": 1}


def test_tables_and_transcripts_agree(finished_dataset):
    matches, decisions, messages = (rows(finished_dataset, table) for table in ("matches", "decisions", "messages"))
    assert [row["match"] for row in matches] == [line["match"] for line in transcripts(finished_dataset)]
    for row, line in zip(matches, transcripts(finished_dataset), strict=True):
        assert line["players"] == {"alice": "human", "bob": "script:fair"}
        assert float(row["payoffs_alice"]) == line["payoffs"]["alice"]
        assert row["agreement"] == "TRUE" and row["in_dataset"] == "TRUE"
        moves = [event for event in line["events"] if event["kind"] == "move"]
        match_decisions = [decision for decision in decisions if decision["match"] == line["match"]]
        assert [json.loads(decision["move"]) for decision in match_decisions] == [move["move"] for move in moves]
        assert [int(decision["move_number"]) for decision in match_decisions] == list(range(1, len(moves) + 1))
    assert len(messages) == 4


def test_messages_are_exported_verbatim_except_defused_formulas(finished_dataset):
    assert [row["text"] for row in rows(finished_dataset, "messages")] == [
        "Half for you?", "'=1+1", "'-5", 'Über 1.000 €?\nSay yes, "Bob"',
    ]  # fmt: skip
    offer = rows(finished_dataset, "decisions")[0]
    assert (float(offer["move_alice_gain"]), offer["move_decision"]) == (6000.0, "")
    first = transcripts(finished_dataset)[0]
    assert [e["move"]["message"] for e in first["events"] if "message" in e.get("move", {})][1] == "=1+1"
    assert [(row["characters"], row["words"]) for row in rows(finished_dataset, "messages")][:2] == [
        ("13", "3"),
        ("4", "1"),
    ]


def test_html_in_a_message_is_plain_text(tmp_path):
    study = building.new_study()
    building.complete(study, worker="A1WORKER", messages=["<script>alert(1)</script>\r\n&amp;", "🂡 \u2028 ٣"])
    export(study, tmp_path / "d")
    assert [row["text"] for row in rows(tmp_path / "d", "messages")] == [
        "<script>alert(1)</script>\r\n&amp;",
        "🂡 \u2028 ٣",
    ]
    assert verify(tmp_path / "d") == []


def test_participants_table_lists_everyone_with_verdicts_and_times(finished_dataset):
    first, _second, stranger, unfinished = rows(finished_dataset, "participants")
    assert (first["state"], first["stage"], first["in_dataset"]) == ("completed", "in_dataset", "TRUE")
    assert (first["check_code_word_passed"], first["check_quiz_passed"], first["reasons"]) == ("TRUE", "TRUE", "")
    assert float(first["seconds_consent"]) >= 0 and float(first["seconds_match"]) >= 0
    assert "check_code_word_answered" not in first
    assert (stranger["stage"], stranger["check_code_word_passed"], stranger["reason"]) == (
        "consented", "FALSE", "failed_code_word",
    )  # fmt: skip
    assert (unfinished["in_dataset"], unfinished["reason"], unfinished["ended_at"]) == ("FALSE", "not_finished", "")
    assert [row["participant"] for row in rows(finished_dataset, "excluded")] == [
        stranger["participant"], unfinished["participant"],
    ]  # fmt: skip


def test_payments_equal_the_ledger(tmp_path):
    study = building.new_study()
    person = building.complete(study, worker="A1WORKER")
    export(study, tmp_path / "d")
    owed = {row.reason: row.amount for row in LedgerRow.objects.filter(enrolment=person)}
    paid = rows(tmp_path / "d", "payments")
    assert {row["reason"]: row["amount"] for row in paid} == {reason: str(amount) for reason, amount in owed.items()}
    assert {row["participant"] for row in paid} == {person.pseudonym}


def test_every_field_of_a_model_call_is_in_the_table(finished_dataset):
    assert {column.name for column in fields(CallRecord)} <= set(header(finished_dataset, "llm_calls"))
    (call,) = rows(finished_dataset, "llm_calls")
    assert json.loads(call["messages"]) == [{"role": "user", "content": "[name] says: Half?"}]
    assert (call["answer"], call["input_tokens"], call["output_tokens"]) == ("'-2", "12", "")


def test_headers_depend_on_the_study_not_its_data(tmp_path, finished_dataset):
    study = building.new_study()
    export(study, tmp_path / "empty")
    for table in tables_for(reading_of(study)):
        assert header(tmp_path / "empty", table) == header(finished_dataset, table)
    assert header(finished_dataset, "matches") == [
        "match", "game", "rules_version", "version", "cell", "cell_kind", "purpose", "source", "name", "unverified",
        "seed", "started_at", "ended_at", "seconds", "session",
        "stage", "pass", "repeat", "cluster", "repetition", "environment", "ended_how",
        "decisions", "messages",
        "player_alice", "agent_alice", "agent_alice_hash", "participant_alice",
        "player_bob", "agent_bob", "agent_bob_hash", "participant_bob",
        "information", "disclosure", "told_of_players",
            *(f"config_{name}" for name in registry.get("bargaining").Config.model_fields),
        "payoffs_alice", "payoffs_bob",
        *reading_of(study).shape.metrics,
        "in_dataset", "reason", "reasons",
    ]  # fmt: skip
    assert header(finished_dataset, "decisions") == [
        "match", "move_number", "number", "role", "round", "phase", "player", "by", "move",
        "move_alice_gain", "move_bob_gain", "move_message", "move_decision",
        "asked_at", "shown_at", "answered_at", "seconds", "refused", "sight", "tries", "warned", "changed", "answered",
    ]  # fmt: skip
    assert header(finished_dataset, "messages") == ["match", "number", "role", "player", "text", "characters", "words"]


def test_metrics_are_columns_under_their_own_names(finished_dataset):
    for line, row in zip(transcripts(finished_dataset), rows(finished_dataset, "matches"), strict=True):
        assert set(line["metrics"]) <= set(row)


def test_the_codebook_describes_results_as_the_game_does(tmp_path):
    export(building.new_study(), tmp_path / "d")
    entries = {(row["table"], row["column"]): row for row in rows(tmp_path / "d", "codebook")}
    share = entries["matches", "alice_share"]
    meaning = registry.get("bargaining").Results.model_fields["alice_share"].description
    assert (share["meaning"], share["kind"], share["unit"]) == (meaning, "number", "share")
    assert [entries["matches", name]["kind"] for name in ("agreement", "rounds_played")] == ["boolean", "integer"]


def test_the_codebook_explains_every_column_of_every_table(finished_dataset):
    entries = rows(finished_dataset, "codebook")
    document = (finished_dataset / "codebook.md").read_text()
    for path in finished_dataset.glob("*.csv"):
        columns = [entry for entry in entries if entry["table"] == path.stem]
        assert [entry["column"] for entry in columns] == header(finished_dataset, path.stem), path.name
        assert all(entry["meaning"] and entry["kind"] for entry in columns)
        assert f"## {path.name}" in document
    assert [entry["column"] for entry in entries if entry["table"] == "transcripts"] == list(
        transcripts(finished_dataset)[0]
    )
    assert all(f"| `{entry['column']}` |" in document for entry in entries)


@pytest.mark.parametrize(
    ("formats", "absent"),
    [
        (["csv"], {"transcripts.jsonl"}),
        (["jsonl"], {"matches.csv", "decisions.csv", "messages.csv", "participants.csv"}),
    ],
)
def test_one_format_alone_is_a_dataset_too(tmp_path, formats, absent):
    study = building.new_study()
    building.complete(study, worker="A1WORKER")
    export(study, tmp_path / "d", formats)
    assert {path.name for path in (tmp_path / "d").iterdir()} & absent == set()
    assert verify(tmp_path / "d") == []


@pytest.mark.parametrize("formats", [["xlsx"], ["csv", "nonsense"], []])
def test_an_unknown_format_writes_nothing(tmp_path, formats):
    with pytest.raises(UnknownFormat):
        export(building.new_study(), tmp_path / "d", formats)
    assert not (tmp_path / "d").exists()


def test_a_folder_in_use_is_kept_unless_overwrite_is_set(tmp_path):
    study = building.new_study()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FolderInUse):
        export(study, tmp_path)
    export(study, tmp_path, overwrite=True)
    export(study, tmp_path, ["jsonl"], overwrite=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert not (tmp_path / "matches.csv").exists()
    assert verify(tmp_path) == []
    with pytest.raises(FolderInUse):
        export(study, tmp_path / "notes.txt")


# ---- the gate with real data -----------------------------------------------------------------------------


def flow_of(study, folder: Path) -> dict:
    return export(study, folder).model_dump()["flow"]


def test_everyone_excluded_is_counted_once_with_the_reason(tmp_path):
    study = building.new_study()
    building.complete(study, worker="A1")
    building.arrive(study, worker="A2")
    building.read_instructions(building.consent(building.arrive(study, worker="A3")), word="nonsense")
    quiz_failer = building.read_instructions(building.consent(building.arrive(study, worker="A4")))
    building.play(quiz_failer)
    building.answer_quiz(quiz_failer, correctly=False)
    for worker, reason in [("A5", State.TIMED_OUT), ("A6", State.DROPPED_OUT)]:
        person = building.read_instructions(building.consent(building.arrive(study, worker=worker)))
        services.abandon_match(match_id=building.match_of(person).pk, reason=reason, role="alice")
    partner_failed = building.read_instructions(building.consent(building.arrive(study, worker="A7")))
    services.abandon_match(match_id=building.match_of(partner_failed).pk, reason=State.OPPONENT_FAILED, role="bob")
    quitter = building.consent(building.arrive(study, worker="A8"))
    building.people.withdraw(enrolment_id=quitter.pk)
    replaced = building.read_instructions(building.consent(building.arrive(study, worker="A9")))
    building.play(replaced, by="clock")
    building.answer_quiz(replaced)

    flow = flow_of(study, tmp_path / "d")
    assert flow["arrived"] == 9
    assert flow["in_dataset"] == flow["matches_in_dataset"] == 1
    assert flow["excluded"] == {
        "failed_code_word": 1, "failed_quiz": 1, "timed_out": 1, "dropped_out": 1, "opponent_failed": 1, "withdrew": 1,
        "not_finished": 1, "clock_move": 1,
    }  # fmt: skip
    assert {row["stage"]: row["reached"] for row in flow["stages"]} == {
        "arrived": 9, "consented": 8, "instructed": 6, "began": 6, "finished": 3, "completed": 2, "in_dataset": 1,
    }  # fmt: skip
    assert verify(tmp_path / "d") == []
    assert len(rows(tmp_path / "d", "excluded")) == 8


def test_a_demonstration_before_the_study_is_excluded(tmp_path):
    study = building.new_study(purpose="demo")
    building.complete(study, worker="A1")
    building.launch_with(study, purpose="study")
    building.complete(study, worker="A2")
    flow = flow_of(study, tmp_path / "d")
    assert flow["excluded"] == {"demo": 1}
    assert flow["in_dataset"] == 1
    assert [row["version"] for row in rows(tmp_path / "d", "matches")] == ["2"]
    assert verify(tmp_path / "d") == []


def test_a_demonstration_is_exported_as_such(tmp_path):
    study = building.new_study(purpose=Match.Purpose.DEMO)
    building.complete(study, worker="A1")
    manifest = export(study, tmp_path / "d")
    assert manifest.demonstration
    assert "DEMONSTRATION" in manifest.notice
    assert "DEMONSTRATION" in (tmp_path / "d" / "codebook.md").read_text()
    assert manifest.flow["matches_in_dataset"] == 1


def test_what_ends_during_the_export_counts_as_in_progress(tmp_path, monkeypatch):
    study = building.new_study()
    started_at = timezone.now()
    building.complete(study, worker="A1")
    reading_before = reading_of(study, cutoff=started_at + timedelta(days=1))
    assert [participant.in_dataset for participant in reading_before.participants()] == [True]
    person = building.arrive(study, worker="A2")
    cutoff = timezone.now()
    building.read_instructions(building.consent(person))
    building.play(person)
    building.answer_quiz(person)
    late = list(reading_of(study, cutoff=cutoff).participants())[-1]
    assert (late.facts.state, late.in_dataset, late.reasons) == ("under_way", False, ("not_finished",))


def test_small_portions_omit_no_one(tmp_path, monkeypatch):
    monkeypatch.setattr(participants, "CHUNK", 2)
    study = building.new_study()
    people = [building.complete(study, worker=f"A{i}") for i in range(5)]
    export(study, tmp_path / "d")
    assert [row["participant"] for row in rows(tmp_path / "d", "participants")] == [
        person.pseudonym for person in people
    ]
    assert len(transcripts(tmp_path / "d")) == 5


def test_a_study_that_was_never_launched_has_an_empty_dataset(tmp_path):
    study = kit.new_study("draft", config={"money": 100.0})
    assert flow_of(study, tmp_path / "d")["arrived"] == 0
    assert verify(tmp_path / "d") == []


def test_events_equal_those_of_the_model(db):
    match = building.match_of(building.complete(building.new_study(), worker="A1", messages=['"\\ü🂡\u2028\n', "0.1"]))
    first, second, *_rest = match.events.order_by("number")
    type(first).objects.filter(pk=first.pk).update(at=first.at.replace(microsecond=0))
    changes = {"asked_at": None, "at": second.at.replace(microsecond=120_000), "tries": [[9, "money", 1.5]]}
    type(first).objects.filter(pk=second.pk).update(**changes)
    expected = [LoggedEvent(*row) for row in match.events.order_by("number").values_list(*LoggedEvent._fields)]
    assert logs_of([match.pk]) == {match.pk: expected}
