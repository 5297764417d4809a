"""Launching freezes a version, and participants keep the steps they began with."""

from __future__ import annotations

import re

import pytest
from django.core.exceptions import ValidationError

from opponents.agents import agents_from_specs
from plans.canonical import sha256_of
from studies.launching import launch
from studies.models import Study, Version
from tests.visitors import arrived_participant, launched_study

pytestmark = pytest.mark.django_db


def test_launched_study_is_hashed_with_a_cell_per_role():
    study = launched_study(roles=["alice", "bob"], quota=7)
    version = Version.objects.get()
    assert (study.status, version.number) == (Study.Status.LAUNCHED, 1)
    assert version.sha256 == sha256_of(version.content)
    assert re.fullmatch(r"[0-9a-f]{64}", version.sha256)
    assert [(cell.number, cell.role, cell.quota) for cell in version.cells.all()] == [(1, "alice", 7), (2, "bob", 7)]
    assert [cell.seats for cell in version.cells.all()] == [
        {"alice": "person", "bob": "script:fair"},
        {"alice": "script:fair", "bob": "person"},
    ]


def test_content_contains_all_that_enrolments_depend_on():
    content = launched_study(config={"rounds": 6}).versions.get().content
    assert content["configurations"][0]["rounds"] == 6
    assert content["configurations"][0]["money"] == 10_000
    assert content["texts"]["consent"]
    assert content["texts"]["instructions"]
    assert set(content) >= {"game", "rules_version", "cells", "purpose", "checks", "timers", "pay", "entry"}


def test_launching_the_same_content_reuses_the_version():
    study = launched_study()
    first = study.versions.get()
    Study.objects.update(status=Study.Status.PAUSED, title="Another title for the researcher")
    assert launch(study) == first
    assert Version.objects.count() == 1
    study.refresh_from_db()
    assert study.status == Study.Status.LAUNCHED


@pytest.mark.parametrize(
    "edit",
    [
        {"config": {"money": 20_000}},
        {"quota": 3},
        {"agents": agents_from_specs("script:random")},
        {"agents": agents_from_specs("script:fair", delay=2)},
        {"consent": "Please?"},
        {"instructions": "Divide the money."},
        {"asks_quiz": False},
        {"asks_code_word": False},
        {"turn_seconds": 99},
        {"absence_seconds": 30},
        {"most_participations": None},
        {"rest_hours": 12},
        {"base": "2.50"},
        {"pay_rule": "fixed"},
        {"on_timeout": "default"},
        {"discloses": "none"},
        {"roles": ["bob"]},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_launching_an_edit_makes_a_new_version(edit):
    study = launched_study()
    first = study.versions.get()
    before = (first.content, first.sha256, list(first.cells.values()))
    Study.objects.filter(pk=study.pk).update(**edit)
    second = launch(study)
    assert second.number == 2
    assert second.sha256 != first.sha256
    first.refresh_from_db()
    assert (first.content, first.sha256, list(first.cells.values())) == before


def test_unlaunched_edit_does_not_affect_new_participants():
    study = launched_study(quiz=True)
    Study.objects.update(quiz=False)
    study.refresh_from_db()
    assert [step["kind"] for step in arrived_participant(study).steps][-1] == "quiz"


def test_enrolled_participants_keep_their_steps():
    study = launched_study(consent="The first text.")
    early = arrived_participant(study, "early")
    before = early.steps
    Study.objects.filter(pk=study.pk).update(consent="The second text.", quiz=False)
    launch(study)
    study.refresh_from_db()
    late = arrived_participant(study, "late")
    assert arrived_participant(study, "early") == early
    early.refresh_from_db()
    assert early.steps == before
    assert [early.steps[0]["text"], late.steps[0]["text"]] == ["The first text.", "The second text."]
    assert [step["kind"] for step in late.steps] == ["consent", "name", "instructions", "match"]
    assert (early.placement.cell.version.number, late.placement.cell.version.number) == (1, 2)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"config": {"money": -1}}, "config"),
        ({"config": {"no_such": 1}}, "config"),
        ({"agents": agents_from_specs("script:nobody")}, "agents"),
        ({"agents": agents_from_specs("what")}, "agents"),
        ({"roles": ["carol"]}, "roles"),
        ({"currency": "usd"}, "currency"),
        ({"instructions": "{% if %}"}, "instructions"),
        ({"quota": 0}, "quota"),
    ],
)
def test_invalid_study_is_not_launched(fields, field):
    study = Study.objects.create(**{"title": "S", "slug": "s", "game": "bargaining", **fields})
    with pytest.raises(ValidationError) as refused:
        launch(study)
    assert field in refused.value.message_dict
    study.refresh_from_db()
    assert study.status == Study.Status.DRAFT
    assert not Version.objects.exists()


def test_hash_ignores_the_order_of_keys():
    assert sha256_of({"a": 1, "b": [1, 2]}) == sha256_of({"b": [1, 2], "a": 1}) != sha256_of({"a": 1, "b": [2, 1]})
