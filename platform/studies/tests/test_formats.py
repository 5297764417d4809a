"""Versions launched before line-ups existed still admit, seat and finish participants."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from matches import announce
from matches.models import Match, Seat
from matches.step import MatchStep
from opponents.agents import Agent
from participants.models import Enrolment
from participants.services import expiry_after
from plans.canonical import sha256_of
from studies.cells import cell_titles
from studies.models import Cell, Study, Version
from tests.visitors import arrived_participant

pytestmark = pytest.mark.django_db
STORED_VERSION = json.loads(Path(__file__).with_name("version_before_lineups.json").read_text())


@pytest.fixture
def version() -> Version:
    """Return a version from before versions had a format, with its cells."""
    study = Study.objects.create(title="Old", slug="old", game="bargaining", status="launched")
    version = Version.objects.create(
        study=study, number=1, content=STORED_VERSION["content"], sha256=STORED_VERSION["sha256"], seed=1
    )
    Cell.objects.bulk_create(version.planned_cells())
    return version


def test_old_version_keeps_its_hash(version):
    assert sha256_of(Version.objects.get().content) == version.sha256


def test_old_version_labels_agents_by_specification(version):
    settings = STORED_VERSION["content"]["cells"][0]["agents"]["bob"]["settings"]
    assert version.agents() == {"openai:gpt-4o-mini": Agent(spec="openai:gpt-4o-mini", delay=1.5, settings=settings)}
    assert version.agents()["openai:gpt-4o-mini"].settings.persona == "You are a judge."


def test_old_versions_cells_are_line_ups(version):
    assert [(cell.role, cell.seats, cell.places) for cell in version.cells.all()] == [
        ("alice", {"alice": "person", "bob": "openai:gpt-4o-mini"}, 4),
        ("bob", {"alice": "openai:gpt-4o-mini", "bob": "person"}, 4),
    ]
    assert cell_titles(version.pk, version.sha256) == {1: "alice", 2: "bob"}


def test_old_version_places_and_seats_participants(version, monkeypatch):
    monkeypatch.setattr(announce, "queue_turn", lambda match, turn: None)
    for worker in ("first", "second"):
        person = arrived_participant(version.study, worker)
        assert person.placement.role == person.placement.cell.role
        (step,) = [step for step in person.steps if step["kind"] == "match"]
        assert step["agents"]["openai:gpt-4o-mini"]["settings"]["script"] == "fair"
    assert {person.placement.role for person in [person, arrived_participant(version.study, "first")]} == {
        "alice",
        "bob",
    }


def test_old_enrolment_uses_its_frozen_step(version, monkeypatch):
    monkeypatch.setattr(announce, "queue_turn", lambda match, turn: None)
    content, cell = STORED_VERSION["content"], STORED_VERSION["content"]["cells"][1]
    step = {
        "kind": "match",
        "game": content["game"],
        "config": content["configurations"][0],
        "role": cell["role"],
        "agents": cell["agents"],
        "purpose": content["purpose"],
        "texts": content["texts"],
        "timers": content["timers"],
        "budget_of": "study:old",
    }
    person = Enrolment.objects.create(steps=[step], expires_at=expiry_after(60))
    MatchStep(person, step).enter()
    seats = {seat.role: seat for seat in Seat.objects.filter(match=Match.objects.get())}
    assert seats["bob"].enrolment == person
    assert (seats["alice"].agent, seats["alice"].label, seats["alice"].delay) == (
        "openai:gpt-4o-mini",
        "openai:gpt-4o-mini",
        1.5,
    )
    assert seats["alice"].seated() == version.agents()["openai:gpt-4o-mini"]
