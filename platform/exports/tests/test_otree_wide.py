"""oTree's wide format: its exact header, its way of writing values, and nothing that identifies people."""

from __future__ import annotations

import csv
import itertools
import json
import re
import tempfile
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from collecting.tests.kit import new_collection
from config.children import ROOT
from conftest import examples
from exports import portions
from exports.dataset import export
from exports.errors import UnknownFormat
from exports.tests import building
from exports.tests.test_dataset import rows
from exports.verify import verify
from participants import services as people
from participants.models import Enrolment
from payouts.models import LedgerRow

pytestmark = pytest.mark.django_db

HEADER = """
participant.id_in_session participant.code participant.label participant._is_bot participant._index_in_pages
participant._max_page_index participant._current_app_name participant._current_page_name
participant.time_started_utc participant.visited participant.mturk_worker_id participant.mturk_assignment_id
participant.payoff
session.code session.label session.mturk_HITId session.mturk_HITGroupId session.comment session.is_demo
session.config.name session.config.participation_fee session.config.real_world_currency_per_point
parley.1.player.id_in_group parley.1.player.role parley.1.player.payoff parley.1.player.parley_participant
parley.1.player.parley_cell parley.1.player.parley_ending parley.1.player.parley_role parley.1.player.parley_match
parley.1.player.parley_opponent parley.1.player.parley_moved_by parley.1.player.parley_payoff
parley.1.player.parley_base_cents parley.1.player.parley_bonus_cents parley.1.player.parley_currency
parley.1.group.id_in_subsession parley.1.subsession.round_number
""".split()
TABLE = "all_apps_wide"
_numbers = itertools.count()


def exported(study, folder: Path) -> list[dict[str, str]]:
    """Export, verify and return the rows."""
    export(study, folder, ["csv", "jsonl", "otree"])
    assert verify(folder) == []
    return rows(folder, TABLE)


def header(folder: Path) -> list[str]:
    with (folder / f"{TABLE}.csv").open(encoding="utf-8", newline="") as opened:
        return next(csv.reader(opened))


def test_the_header_is_that_of_otree(tmp_path):
    exported(building.new_study(), tmp_path / "d")
    assert header(tmp_path / "d") == HEADER


def test_the_documentation_lists_the_header_in_its_order():
    document = (ROOT / "docs" / "otree.md").read_text()
    listed = document.partition("```text\n")[2].partition("```")[0].split()
    assert listed == HEADER


def test_a_complete_game_and_an_enrolment_in_progress(tmp_path):
    study = building.new_study(title="=Splitting\nmoney")
    played = building.complete(study, worker="A1WORKER")
    building.consent(building.arrive(study, worker="A2WORKER"))
    completed_row, unfinished_row = exported(study, tmp_path / "d")
    match = building.match_of(played)
    owed = {row.reason: int(row.amount * 100) for row in played.ledger.all()}
    payoff = str(sum(owed.values()) / 100)
    assert completed_row == {
        **dict.fromkeys(HEADER, ""),
        "participant.id_in_session": "1",
        "participant.code": played.pseudonym,
        "participant.label": played.pseudonym,
        "participant._is_bot": "0",
        "participant._index_in_pages": "6",
        "participant._max_page_index": "5",
        "participant._current_app_name": "parley",
        "participant._current_page_name": "quiz",
        "participant.time_started_utc": f"{played.arrived_at:%Y-%m-%d %H:%M:%S.%f}",
        "participant.visited": "1",
        "participant.payoff": payoff,
        "session.code": "splitting",
        "session.label": "'=Splitting money",
        "session.is_demo": "0",
        "session.config.name": "v1",
        "session.config.participation_fee": "0.0",
        "parley.1.player.id_in_group": "1",
        "parley.1.player.payoff": payoff,
        "parley.1.player.parley_participant": played.pseudonym,
        "parley.1.player.parley_cell": "1",
        "parley.1.player.parley_ending": "completed",
        "parley.1.player.parley_role": "alice",
        "parley.1.player.parley_opponent": "script:fair",
        "parley.1.player.parley_match": str(match.uid),
        "parley.1.player.parley_payoff": str(float(match.payoffs["alice"])),
        "parley.1.player.parley_base_cents": str(owed["base"]),
        "parley.1.player.parley_bonus_cents": str(owed["bonus"]),
        "parley.1.player.parley_currency": "USD",
        "parley.1.group.id_in_subsession": "1",
        "parley.1.subsession.round_number": "1",
    }
    filled = {
        name.removeprefix("participant."): text
        for name, text in unfinished_row.items()
        if name.startswith("participant")
    }
    assert (filled["id_in_session"], filled["payoff"]) == ("2", "0.0")
    assert (filled["_index_in_pages"], filled["_current_page_name"]) == ("3", "instructions")
    known = {"parley.1.player.parley_participant", "parley.1.player.parley_cell"}
    assert {name for name in HEADER if ".parley_" in name and unfinished_row[name]} == known
    assert unfinished_row["parley.1.player.payoff"] == "0.0"


def test_a_demonstration_is_marked_and_shows_hypothetical_pay(tmp_path):
    study = building.new_study(purpose="demo")
    building.complete(study, worker="A1WORKER")
    (row,) = exported(study, tmp_path / "d")
    assert row["session.is_demo"] == "1" and float(row["participant.payoff"]) > 1
    assert not LedgerRow.objects.exists()


ENDINGS = ("completed", "failed_code_word", "failed_quiz", "withdrew", "under way")


def reach_ending(study, ending: str, *, worker: str, name: str) -> Enrolment:
    """Return a participant's enrolment with this ending."""
    if ending == "completed":
        return building.complete(study, worker=worker, name=name, messages=[f"{name} here", f"=HYPERLINK({worker})"])
    person = building.arrive(study, worker=worker, proof=f"3ASSIGNMENT{worker}/{worker}")
    building.consent(person, name=name)
    if ending == "withdrew":
        people.withdraw(enrolment_id=person.pk)
    elif ending == "failed_code_word":
        building.read_instructions(person, word="wrong")
    elif ending == "failed_quiz":
        building.read_instructions(person)
        building.play(person)
        building.answer_quiz(person, correctly=False)
    person.refresh_from_db()
    return person


@pytest.mark.slow
@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    endings=st.lists(st.sampled_from(ENDINGS), min_size=1, max_size=5),
    title=st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\r\n"), min_size=1, max_size=40),
    demo=st.booleans(),
)
def test_rows_and_sums_match_otrees_for_every_ending(db, endings, title, demo):
    study = building.new_study(
        slug=f"study-{next(_numbers)}", title=title, purpose="demo" if demo else "study", quota=1000
    )
    workers = [f"A{next(_numbers):04d}SECRETWORKER" for _ in endings]
    for ending, worker in zip(endings, workers, strict=True):
        reach_ending(study, ending, worker=worker, name="Rosalind")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "d"
        wide_rows = exported(study, target)
        assert header(target) == HEADER
        by_pseudonym = {row["participant"]: row for row in rows(target, "participants")}
        payments = rows(target, "payments")
        raw = (target / f"{TABLE}.csv").read_text(encoding="utf-8")
    assert [row["participant.id_in_session"] for row in wide_rows] == [str(i + 1) for i in range(len(endings))]
    assert list(by_pseudonym) == [row["participant.code"] for row in wide_rows], (
        "one row for each row of participants.csv"
    )
    for ending, row in zip(endings, wide_rows, strict=True):
        participant = by_pseudonym[row["participant.code"]]
        ended = ending != "under way"
        assert row["parley.1.player.parley_ending"] == (participant["state"] if ended else "")
        assert row["parley.1.player.parley_match"] == participant["match"]
        assert bool(row["parley.1.player.parley_payoff"]) == bool(participant["match"])
        cents = [row[f"parley.1.player.parley_{reason}_cents"] for reason in ("base", "bonus")]
        assert (
            row["participant.payoff"] == row["parley.1.player.payoff"] == str(sum(map(int, filter(None, cents))) / 100)
        )
        if not demo:
            amounts = [
                float(payment["amount"]) for payment in payments if payment["participant"] == row["participant.code"]
            ]
            assert float(row["participant.payoff"]) == pytest.approx(sum(amounts))
        for name in ("participant._is_bot", "participant.visited", "session.is_demo"):
            assert row[name] in ("0", "1")
        assert "None" not in row.values() and not {"TRUE", "FALSE"} & set(row.values())
        for name in ("participant.mturk_worker_id", "participant.mturk_assignment_id", "session.mturk_HITId"):
            assert row[name] == ""
        assert (
            not re.match(r"[\s=+\-@\t\r\n]", row["session.label"].lstrip("'") or "x") or row["session.label"][0] == "'"
        )
        assert "\n" not in row["session.label"] and "\r" not in row["session.label"]
    for secret in (*workers, "Rosalind", "3ASSIGNMENT"):
        assert secret not in raw
    for person in Enrolment.objects.filter(placement__version__study=study):
        assert person.token not in raw and person.completion_code not in raw


def test_people_are_numbered_across_portions(tmp_path, monkeypatch):
    monkeypatch.setattr(portions, "PEOPLE", 2)
    study = building.new_study()
    for i in range(5):
        building.arrive(study, worker=f"A{i}WORKER")
    wide_rows = exported(study, tmp_path / "d")
    assert [row["participant.id_in_session"] for row in wide_rows] == ["1", "2", "3", "4", "5"]
    assert [row["parley.1.player.id_in_group"] for row in wide_rows] == ["1", "2", "3", "4", "5"]


def test_wide_format_is_written_only_on_request(finished_dataset):
    assert not (finished_dataset / f"{TABLE}.csv").exists()


def test_wide_format_alone_can_be_overwritten(tmp_path):
    study = building.new_study()
    building.complete(study, worker="A1WORKER")
    manifest = export(study, tmp_path / "d", ["otree"])
    assert manifest.formats == ("otree",) and manifest.counts[f"{TABLE}.csv"] == 1
    assert verify(tmp_path / "d") == []
    book = [row["column"] for row in rows(tmp_path / "d", "codebook") if row["table"] == TABLE]
    assert book == HEADER
    assert "| `all_apps_wide.csv` | 1 | One row per person" in (tmp_path / "d" / "README.md").read_text()
    export(study, tmp_path / "d", overwrite=True)
    assert not (tmp_path / "d" / f"{TABLE}.csv").exists()


def test_the_command_writes_the_wide_format(tmp_path):
    building.complete(building.new_study(), worker="A1WORKER")
    call_command("export_dataset", "splitting", "--to", str(tmp_path / "d"), "--formats", "csv,otree")
    assert len(rows(tmp_path / "d", TABLE)) == 1
    assert json.loads((tmp_path / "d" / "manifest.json").read_text())["formats"] == ["csv", "otree"]


def test_wide_format_refuses_collections(tmp_path):
    collection = new_collection(agents=["script:fair"])
    with pytest.raises(UnknownFormat, match="collections have no participants"):
        export(collection, tmp_path / "d", ["csv", "otree"])
    assert not (tmp_path / "d").exists()
    with pytest.raises(CommandError, match="collections have no participants"):
        call_command("export_dataset", collection.slug, "--to", str(tmp_path / "d"), "--formats", "otree")
