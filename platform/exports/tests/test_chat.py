"""The chat beside a game in a dataset: written, verified, scrubbed and erased."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from conftest import made_once
from erasing.services import ERASED, erase
from exports.dataset import export
from exports.tests import building
from exports.tests.test_verify import edit_csv, reseal
from exports.verify import verify
from matches import chat
from matches.models import Match
from participants import services as people
from participants.models import Enrolment
from studies.models import Study
from studies.tests import kit

pytestmark = pytest.mark.django_db
HOME = "I live at 5 Elm Street in Ghent"


def talked(_folder: Path) -> Study:
    """Return a study with one match, in whose chat Maria reveals who they are, and another player repeats it."""
    study = building.new_study(slug="chatting", chat={"to": "both"}, quiz=False)
    person = building.consent(building.arrive(study, worker="A1FIRSTWORKER"), name="Maria")
    building.read_instructions(person)
    match = building.match_of(person)
    for number, (sender, text, to) in enumerate(
        [
            ("alice", f"I am Maria. {HOME}", ""),
            ("bob", "You live at 5 Elm Street? Nice!", "alice"),
            ("bob", "Let us share fairly.", ""),
        ]
    ):
        own = person.pk if sender == "alice" else None
        chat.write(match_id=match.pk, sender=sender, text=text, to=to, key=str(number), enrolment_id=own)
    building.play(person)
    return study


study = made_once(talked)


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "chat.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_messages_are_rows_with_their_readers_and_without_names(study, tmp_path):
    export(study, tmp_path / "data")
    assert verify(tmp_path / "data") == []
    written = rows(tmp_path / "data")
    assert [(row["number"], row["role"], row["player"], row["to"], row["readers"]) for row in written] == [
        ("1", "alice", "human", "", "bob"),
        ("2", "bob", "script:fair", "alice", "alice"),
        ("3", "bob", "script:fair", "", "alice"),
    ]
    assert written[0]["text"] == f"I am [name]. {HOME}"
    line = json.loads((tmp_path / "data" / "transcripts.jsonl").read_text("utf-8"))
    assert [said["text"] for said in line["chat"]] == [row["text"] for row in written]


def test_every_changed_column_is_found(study, tmp_path):
    export(study, tmp_path / "data")
    for column in (columns := [name for name in rows(tmp_path / "data")[0] if name != "match"]):
        edit_csv(tmp_path / "data" / "chat.csv", column, lambda value: f"1{value}")
    reseal(tmp_path / "data")
    found = verify(tmp_path / "data")
    assert [name for name in columns if not any(f"chat.csv: row 1: {name} is" in each for each in found)] == []


def test_erasing_a_person_erases_their_messages_and_those_that_quote_them(study, tmp_path):
    erase(enrolment=Enrolment.objects.get(), by=None, reason="asked")
    export(study, tmp_path / "data")
    assert verify(tmp_path / "data") == []
    assert [row["text"] for row in rows(tmp_path / "data")] == [ERASED, ERASED, "Let us share fairly."]


def test_study_without_a_chat_has_no_table_of_it(finished_dataset):
    assert not (finished_dataset / "chat.csv").exists()


@pytest.mark.slow
def test_a_chat_without_a_game_is_a_match_that_pays_nothing(tmp_path):
    talk = {"stage": "chat", "name": "talk", "players": 1, "chat": {"seconds": 60, "mediator": {"agent": "talker"}}}
    plan = kit.document("bargaining", agents="script:fair", quiz=False)
    plan["agents"]["talker"] = kit.agent("openai:stand-in", cap_study=5.0)
    plan["journey"].insert(2, talk)
    study = kit.launched("talking", plan=plan)
    person = building.consent(building.arrive(study, worker="A1FIRSTWORKER"), name="Maria")
    building.read_instructions(person)
    building.play(person)
    building.answer(person)
    people.show_step(enrolment_id=person.pk)
    match = Match.objects.get(game="conversation")
    chat.write(match_id=match.pk, sender="p1", text="Hello", key="1", enrolment_id=person.pk)
    building.move(match, "p1", {"answer": "go_on"})
    building.answer(person)
    export(study, tmp_path / "data")
    assert verify(tmp_path / "data") == []
    assert [row["text"] for row in rows(tmp_path / "data")] == ["Hello"]
