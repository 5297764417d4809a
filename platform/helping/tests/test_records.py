"""What participants and researchers write to each other: in the dataset, erased on request, and never in a prompt."""

from __future__ import annotations

import csv
import json

import pytest
from django.contrib.auth.models import User

from erasing.services import erase
from exports.dataset import export
from exports.verify import verify
from helping import services
from helping.models import Message
from studies.models import Study
from studies.tests.kit import answering
from tests.visitors import Visitor, arrived_participant, launched_study

pytestmark = pytest.mark.django_db
QUESTION, ANSWER = "Robin here, robin@example.org: may I leave early?", "Yes, Robin, a quokka may."


def wrote_to_each_other(visitor: Visitor) -> None:
    services.ask(enrolment=visitor.enrolment, text=QUESTION)
    recipients = services.Recipients.read(Study.objects.get(), f"person:{visitor.enrolment.pk}")
    services.write(recipients=recipients, author=User.objects.create_user("rosa"), text=ANSWER)


def test_dataset_has_the_messages_without_identities(tmp_path):
    visitor = Visitor(arrived_participant(launched_study()))
    visitor.walk_to("match")
    wrote_to_each_other(visitor)
    visitor.agree()
    visitor.see()
    visitor.send(loss_rate="10%")
    export(Study.objects.get(), tmp_path / "data")
    with (tmp_path / "data" / "help.csv").open(encoding="utf-8", newline="") as opened:
        asked, answered = csv.DictReader(opened)
    assert (asked["to"], answered["to"]) == ("researchers", "person")
    assert asked["participant"] == answered["participant"] == visitor.enrolment.pseudonym
    assert asked["match"] == str(visitor.match().uid) and asked["answered_at"] and not answered["answered_at"]
    assert "may I leave early?" in asked["text"] and "a quokka may." in answered["text"]
    everything = "".join(path.read_text() for path in (tmp_path / "data").glob("*.csv"))
    assert "Robin" not in everything and "robin@example.org" not in everything and "rosa" not in everything
    assert verify(tmp_path / "data") == []


@pytest.mark.slow
def test_person_who_is_not_in_the_dataset_has_no_messages_in_it(tmp_path):
    visitor = Visitor(arrived_participant(launched_study()))
    visitor.walk_to("match")
    wrote_to_each_other(visitor)
    visitor.client.post(f"{visitor.url}leave/")
    export(Study.objects.get(), tmp_path / "data")
    assert len((tmp_path / "data" / "help.csv").read_text().splitlines()) == 1


def test_erasing_a_participant_erases_both_sides():
    visitor = Visitor(arrived_participant(launched_study()))
    wrote_to_each_other(visitor)
    visitor.client.post(f"{visitor.url}leave/")
    erase(enrolment=visitor.now(), by=None, reason="asked to")
    assert set(Message.objects.values_list("text", flat=True)) == {"[erased]"}


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_no_model_reads_them(monkeypatch, as_worker):
    with answering(monkeypatch, ['{"decision": "accept"}']) as service:
        visitor = Visitor(arrived_participant(launched_study(agents="openai:m"))).walk_to("match")
        wrote_to_each_other(visitor)
        visitor.move(alice_gain="5000", bob_gain="5000")
        visitor.let_agent_answer()
        prompts = json.dumps(service.requests)
    assert "5,000" in prompts and "leave early" not in prompts and "quokka" not in prompts
