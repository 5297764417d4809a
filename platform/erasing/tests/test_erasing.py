"""Erasing a participant: nothing they wrote is left in the database, and no figure changes."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse

import games.play
from audit.models import Record
from checks.models import Verdict
from conftest import KIND
from erasing import services
from erasing.services import ERASED, NotPossible, erase
from exports import background
from exports.dataset import export
from exports.models import Dataset
from exports.tests import building
from exports.verify import verify
from games.play import replay_events
from gathering.models import Attendance, Session
from matches.models import Match
from opponents.models import Call
from participants import services as people
from participants.models import Enrolment
from participants.written_text import written_fields
from payouts.models import LedgerRow
from recruiters.models import Identity, LabCode
from rights.members import give
from rights.roles import Role
from studies.models import Study
from surveys.models import Response
from tests.visitors import Visitor, arrived_participant, launched_study

pytestmark = [pytest.mark.services, pytest.mark.django_db]

NAME, WORKER, HIT = "Robina Zwiebel", "A1ZWIEBELWORKER", "H1T2H3I4T5"
ADDRESS = "I live at 5 Elm Street in Ghent"
REPORT = "my phone number is 0470 123 456"
QUOTE = "You live at 5 Elm Street? Nice!"
HARMLESS = "Let us share fairly"
TOOL = {"size": 5, "fault": None, "kind": "look"}
TEXT_COLUMNS = {
    "messages": {"text", "characters", "words"},
    "decisions": {"move", "move_message"},
    "llm_calls": {"messages", "answer", "problem", "error", "remarks"},
    "tool_calls": {"name", "arguments", "result"},
    "participants": {
        "check_code_word_answered", "check_quiz_answered", "repeated_messages", "repeated_answers", "recruiter",
    },
}  # fmt: skip
"""Everything that may differ in a dataset before and after."""


def participant(study: Study) -> Enrolment:
    """A participant who reveals a lot, and an opponent who repeats it."""
    person = building.arrive(study, worker=WORKER, proof=f"proof/{WORKER}", details={"hitId": HIT})
    building.consent(person, name=NAME)
    building.read_instructions(person)
    match = building.match_of(person)
    for message, answer in ((ADDRESS, QUOTE), ("hello", f"Dear Robina, {HARMLESS}"), ("so be it", HARMLESS)):
        building.move(match, "alice", {**building.OFFER, "message": message})
        building.move(match, "bob", {"decision": "reject"})
        building.move(match, "bob", {**building.OFFER, "message": answer})
        building.move(match, "alice", {"decision": "reject"})
    building.move(match, "alice", {**building.FAIR, "message": ""})
    building.move(match, "bob", {"decision": "accept"})
    building.save_call(
        match,
        messages=[
            {"role": "system", "content": "These are the rules."},
            {"role": "user", "content": f"The other says: <<{ADDRESS}>>"},
        ],
        answer=json.dumps({"message": f"So {NAME} is in Ghent", "bob_gain": 4000}),
        problem=f"“{NAME}” is not a number",
        request_id="req-1",
        remarks={"reason": f"{NAME} lives in Ghent"},
        conversation="c1",
        offered=["read_notes", "note"],
        tools=[
            {**TOOL, "name": "read_notes", "arguments": "{}", "result": ADDRESS, "size": len(ADDRESS)},
            {**TOOL, "name": "note", "arguments": json.dumps({"note": REPORT}), "result": "Kept.", "kind": "note"},
            {**TOOL, "name": f"write to {NAME}", "arguments": "{}", "result": "There is no tool", "fault": "unknown"},
        ],
    )
    building.answer_quiz(person)
    people.report_problem(enrolment_id=person.pk, text=REPORT)
    person.refresh_from_db()
    return person


def all_values() -> str:
    """Return every value of every row of every table as text."""
    cell_values = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            cell_values += [str(value) for row in cursor.fetchall() for value in row]
    return "\n".join(cell_values).casefold()


def tables(folder: Path) -> dict[str, list[dict[str, str]]]:
    return {path.stem: list(csv.DictReader(io.StringIO(path.read_text()))) for path in folder.glob("*.csv")}


def secrets_of(person: Enrolment) -> list[str]:
    return [
        NAME, "robina", WORKER, HIT, person.token, person.completion_code, ADDRESS, "elm street", REPORT, "so be it",
    ]  # fmt: skip


def test_erasing_removes_identities_and_keeps_all_figures(tmp_path):
    study = building.new_study()
    person, other = (
        participant(study),
        building.complete(study, worker="A1OTHER", name="Kim", messages=["my own words"]),
    )
    before = all_values()
    assert [secret for secret in secrets_of(person) if secret.casefold() not in before] == []
    export(study, tmp_path / "before")
    rows = list(LedgerRow.objects.order_by("pk").values())
    figures = list(Match.objects.order_by("pk").values("payoffs", "metrics", "status", "ended_at"))

    counts = erase(enrolment=person, by=None, reason=f"{NAME} asked for it by mail")

    after = all_values()
    assert [secret for secret in secrets_of(person) if secret.casefold() in after] == []
    assert "my own words" in after and "kim" in after, "other participants keep theirs"
    assert HARMLESS.casefold() in after, "an opponent's text stays if it reveals nothing"
    assert "these are the rules." in after
    assert (counts.enrolments, counts.messages, counts.calls) == (1, 5, 1)
    assert list(LedgerRow.objects.order_by("pk").values()) == rows
    assert list(Match.objects.order_by("pk").values("payoffs", "metrics", "status", "ended_at")) == figures

    export(study, tmp_path / "after")
    assert verify(tmp_path / "after") == []
    tables_before, tables_after = tables(tmp_path / "before"), tables(tmp_path / "after")
    assert tables_before.keys() == tables_after.keys()
    for name, lines in tables_before.items():
        left_out = TEXT_COLUMNS.get(name, set())
        expected = [{k: v for k, v in line.items() if k not in left_out} for line in lines]
        assert [{k: v for k, v in line.items() if k not in left_out} for line in tables_after[name]] == expected, name
    assert {line["text"] for line in tables_after["messages"]} == {ERASED, HARMLESS, "my own words"}
    assert other.pseudonym in after


@pytest.mark.slow
def test_the_log_still_replays_and_the_snapshot_matches_it():
    person = participant(building.new_study())
    erase(enrolment=person, by=None, reason="asked")
    match = Match.objects.get()
    assert replay_events(match.configured(), match.log()).payoffs() == match.payoffs
    assert match.play().over and match.play().payoffs() == match.payoffs
    moves = [event.data["move"] for event in match.events.filter(kind="move").order_by("number")]
    assert [move["message"] for move in moves if "message" in move] == [
        ERASED, ERASED, ERASED, ERASED, ERASED, HARMLESS,
    ]  # fmt: skip
    assert [move["decision"] for move in moves if "decision" in move] == ["reject"] * 6 + ["accept"]


@pytest.mark.slow
def test_only_the_participants_matches_are_replayed_and_not_while_rows_are_locked(monkeypatch):
    """Some games take seconds, and on SQLite a lock keeps every other writer waiting."""
    person = participant(building.new_study())
    outside, played_in = list(connection.savepoint_ids), []
    start = games.play.start

    def recording_start(*arguments, **options):
        played_in.append(list(connection.savepoint_ids))
        return start(*arguments, **options)

    monkeypatch.setattr(games.play, "start", recording_start)
    erase(enrolment=person, by=None, reason="asked")
    assert played_in == [outside] * Match.objects.filter(seats__enrolment=person).count()


def test_text_that_arrives_while_erasing_is_planned_is_erased_too(monkeypatch):
    person = participant(building.new_study())
    plan, plans = services._plan, []

    def interrupted(found):
        plans.append(plan(found))
        if len(plans) == 1:
            people.report_problem(enrolment_id=person.pk, text="my dog is called Ottokar")
        return plans[-1]

    monkeypatch.setattr(services, "_plan", interrupted)
    erase(enrolment=person, by=None, reason="asked; the dog is called Ottokar")
    assert len(plans) == 2 and "ottokar" not in all_values()


def test_call_texts_are_erased_but_not_cost_and_time():
    person = participant(building.new_study())
    erase(enrolment=person, by=None, reason="asked")
    record = Call.objects.get().record
    assert [message["content"] for message in record["messages"]] == ["These are the rules.", ERASED]
    assert (record["answer"], record["problem"], record["error"]) == (ERASED, ERASED, None)
    assert (record["model"], record["latency"], record["request_id"]) == ("m", 0.25, "req-1")
    assert [tool["name"] for tool in record["tools"]] == ["read_notes", "note", ERASED]
    assert {tool["arguments"] for tool in record["tools"]} | {tool["result"] for tool in record["tools"]} == {ERASED}
    assert [(tool["kind"], tool["fault"]) for tool in record["tools"]] == [
        ("look", None), ("note", None), ("look", "unknown"),
    ]  # fmt: skip


def test_checks_keep_their_verdicts_without_the_answers():
    person = participant(building.new_study())
    erase(enrolment=person, by=None, reason="asked")
    verdicts = {verdict.check_name: verdict for verdict in Verdict.objects.filter(enrolment=person)}
    assert verdicts["code_word"].passed and verdicts["code_word"].answered == ERASED
    assert verdicts["quiz"].passed and set(verdicts["quiz"].answered.values()) == {ERASED}


def test_survey_answers_are_erased_but_not_questions():
    questions = [
        {"kind": "number", "text": "How old are you?", "name": "age", "min": 18},
        {"kind": "long", "text": "Where do you live?", "name": "home"},
    ]
    visitor = Visitor(arrived_participant(launched_study(before=questions)))
    visitor.see()
    visitor.send(agree="yes")
    visitor.send(name="Robin")
    visitor.send(question_age="44", question_home=ADDRESS)
    people.withdraw(enrolment_id=visitor.enrolment.pk)
    assert ADDRESS.casefold() in all_values()
    assert erase(enrolment=Enrolment.objects.get(), by=None, reason="asked").answers
    assert ADDRESS.casefold() not in all_values()
    remaining = Response.objects.get()
    assert remaining.answers == {"age": 44, "home": ERASED}
    assert [question["text"] for question in remaining.questions] == ["How old are you?", "Where do you live?"]


def test_stored_datasets_with_their_texts_are_deleted(django_capture_on_commit_callbacks):
    study, other_study = building.new_study(), building.new_study(slug="elsewhere")
    person = participant(study)
    for each in (study, other_study):
        background.write(background.request_dataset(each)[0].pk)
    deleted, remaining = Dataset.objects.get(study=study), Dataset.objects.get(study=other_study)
    assert deleted.state == remaining.state == "ready"
    with django_capture_on_commit_callbacks(execute=True):
        counts = erase(enrolment=person, by=None, reason="asked")
    assert counts.datasets == 1 and list(Dataset.objects.all()) == [remaining]
    assert not deleted.file.storage.exists(deleted.file.name) and remaining.file.storage.exists(remaining.file.name)
    requested, _new = background.request_dataset(study)
    background.write(requested.pk)
    assert Dataset.objects.get(pk=requested.pk).state == "ready"


def test_the_link_the_identity_and_the_lab_code_are_deleted(client):
    study = building.new_study()
    code = LabCode.objects.create(study=study.slug).code
    entered = client.post(f"{study.get_absolute_url()}?code={code}")
    person = Enrolment.objects.get()
    people.withdraw(enrolment_id=person.pk)
    assert client.get(entered["Location"]).status_code == 200
    erase(enrolment=person, by=None, reason="asked")
    assert client.get(entered["Location"]).status_code == 404
    assert not Identity.objects.exists() and not LabCode.objects.exists()
    assert code.casefold() not in all_values()


def test_where_somebody_sat_in_a_session_is_forgotten():
    study = building.new_study()
    person = building.complete(study, worker=WORKER)
    session = Session.objects.create(study=study, places=1)
    seat = Attendance.objects.create(session=session, key="hash of the link", label="PC 7", enrolment=person)
    erase(enrolment=person, by=None, reason="asked")
    seat.refresh_from_db()
    assert seat.enrolment == person and not seat.shown_label
    assert "hash of the link" not in all_values()


def test_no_one_is_erased_while_taking_part_or_twice():
    study = building.new_study()
    live = building.consent(building.arrive(study, worker="A1LIVE"))
    with pytest.raises(NotPossible, match="still taking part"):
        erase(enrolment=live, by=None, reason="asked")
    assert Identity.objects.filter(worker="A1LIVE").exists()
    person = building.complete(study, worker="A1DONE")
    erase(enrolment=person, by=None, reason="asked")
    with pytest.raises(NotPossible, match="already"):
        erase(enrolment=Enrolment.objects.get(pk=person.pk), by=None, reason="asked")
    assert Record.objects.filter(action="erased").count() == 1


def test_all_enrolments_of_the_same_person_are_erased_together():
    study = building.new_study()
    first = building.complete(study, worker=WORKER, name="Robina")
    second = building.complete(study, worker="A1SECOND", name="Robina")
    Identity.objects.filter(enrolment=second).update(worker=WORKER)
    elsewhere = building.complete(building.new_study(slug="elsewhere"), worker="A1ELSEWHERE")
    assert erase(enrolment=first, by=None, reason="asked").enrolments == 2
    assert WORKER.casefold() not in all_values() and "robina" not in all_values()
    assert Identity.objects.get().enrolment == elsewhere


def test_every_table_about_participants_declares_its_texts():
    """A new model with a foreign key to enrolments must have `words_of_people` or be listed here."""
    without_words = {
        "matches.Seat", "payouts.LedgerRow", "studies.Placement", "recruiters.Delivery",
        "piloting.Walker", "quality.PageView", "quality.Behaviour", "marketplaces.Submission", "lobby.Place",
        "walking.Walk",
    }  # fmt: skip
    removed = {"recruiters.Identity", "gathering.Attendance"}
    of_people = {
        relation.related_model
        for relation in Enrolment._meta.related_objects
        if relation.one_to_many or relation.one_to_one
    }
    undeclared = {model._meta.label for model in of_people} - {model._meta.label for model in written_fields()}
    assert undeclared == without_words | removed


# ---- the page --------------------------------------------------------------------------------------------


@pytest.fixture
def owner(client: Client) -> User:
    user = User.objects.create_user("owner", is_staff=True)
    client.force_login(user)
    return user


def page_of(person: Enrolment) -> str:
    return reverse("erasing:erase", args=[person.pk])


def test_an_owner_erases_with_a_reason_after_seeing_what_is_owed(client, owner):
    study = building.new_study()
    give(study, user=owner, role=Role.OWNER, by=None)
    person = participant(study)
    profile = reverse("admin:participants_enrolment_change", args=[person.pk])
    assert page_of(person) in client.get(profile).content.decode()
    page = client.get(page_of(person)).content.decode()
    assert "Still owed" in page and "Pay first" in page and WORKER not in page and NAME not in page
    for incomplete in ({}, {"reason": "asked"}, {"reason": "asked", "sure": "on"}, {"sure": "on", "settled": "on"}):
        assert client.post(page_of(person), incomplete).status_code == 200
        assert Identity.objects.exists()
    complete = {"reason": "asked by mail", "sure": "on", "settled": "on"}
    assert client.post(page_of(person), complete)["Location"] == profile
    record = Record.objects.get(action="erased")
    assert (record.by, record.title, record.of_key) == ("owner", person.pseudonym, str(study.pk))
    assert record.details["reason"] == "asked by mail"
    after = client.get(profile).content.decode()
    assert page_of(person) not in after
    assert client.get(page_of(person))["Location"] == profile, "nothing is left to do"


@pytest.mark.parametrize(("role", "status"), [(None, 404), (Role.VIEWER, 403), (Role.EDITOR, 403)])
def test_only_owners_erase(client, owner, role, status):
    study = building.new_study()
    if role:
        give(study, user=owner, role=role, by=None)
    person = building.complete(study, worker="A1")
    for response in (client.get(page_of(person)), client.post(page_of(person), {"reason": "x", "sure": "on"})):
        assert response.status_code == status
    assert Identity.objects.exists()


def test_settled_amounts_need_no_confirmation():
    person = building.complete(building.new_study(), worker="A1")
    assert services.unsettled(person)
    LedgerRow.objects.update(state="confirmed")
    assert not services.unsettled(person)


def test_no_one_is_erased_while_being_paid():
    person = building.complete(building.new_study(), worker="A1")
    LedgerRow.objects.filter(reason="base").update(state="sent")
    with pytest.raises(services.NotPossible, match="being paid"):
        erase(enrolment=person, by=None, reason="asked")
    assert Identity.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.both
@pytest.mark.skipif(KIND != "sqlite", reason="PostgreSQL vacuums automatically")
def test_erased_words_are_gone_from_sqlite_files():
    study = building.new_study()
    person = building.complete(study, worker="A1WORKER", messages=["unmistakable-confession " * 40])
    database = Path(connection.settings_dict["NAME"])
    files = [database, database.with_name(f"{database.name}-wal")]
    deleted = b"".join(file.read_bytes() for file in files if file.exists())
    assert b"unmistakable-confession" in deleted
    LedgerRow.objects.update(state=LedgerRow.State.ELSEWHERE)
    erase(enrolment=person, by=None, reason="asked")
    contents = b"".join(file.read_bytes() for file in files if file.exists())
    assert b"unmistakable-confession" not in contents
