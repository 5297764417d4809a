"""Launching freezes a plan into a version, and participants keep the steps they began with."""

from __future__ import annotations

import re

import pytest
from django.core.exceptions import ValidationError

from plans.canonical import version_hash
from plans.reading import BadPlan
from studies.launching import launch
from studies.models import LogEntry, Study, Version
from studies.tests.kit import agent, launch_again, launched, new_study, varied
from tests.visitors import arrived_participant, launched_study

pytestmark = pytest.mark.django_db


def logged() -> list[tuple[str, object, object]]:
    """Return the changes that were logged after the first launch."""
    changes = LogEntry.objects.exclude(before=None).values_list("path", "before", "after")
    return list(changes)


def test_launched_study_is_hashed_with_a_cell_per_role():
    study = launched_study(roles=["alice", "bob"], quota=7)
    version = Version.objects.get()
    assert (study.status, version.number) == (Study.Status.LAUNCHED, 1)
    assert version.sha256 == version_hash(study.draft)
    assert re.fullmatch(r"[0-9a-f]{64}", version.sha256)
    assert [(cell.number, cell.role, cell.quota) for cell in version.cells.all()] == [(1, "alice", 7), (2, "bob", 7)]
    assert [(cell.factors, cell.seats) for cell in version.cells.all()] == [
        ({"seat": "alice"}, {"alice": "person", "bob": "script:fair"}),
        ({"seat": "bob"}, {"alice": "script:fair", "bob": "person"}),
    ]


def test_version_has_every_default_written_out():
    version = launched_study(config={"rounds": 6}).versions.get()
    game = version.document["journey"][1]
    assert (game["config"]["rounds"], game["config"]["money"], game["timing"]["turn"]) == (6, 10_000, 180)
    assert version.cells.get().config["delta_alice"] == 0.9
    assert version.frozen["rules_versions"].keys() == version.frozen["instructions"].keys() == {"bargaining"}


def test_launching_the_same_plan_reuses_the_version():
    study = launched_study()
    first = study.versions.get()
    Study.objects.update(status=Study.Status.PAUSED)
    study.refresh_from_db()
    assert launch_again(study).versions.get() == first
    assert study.status == Study.Status.LAUNCHED
    assert logged() == []


@pytest.mark.parametrize(
    ("edit", "change"),
    [({"title": "Another"}, ("title", "Splitting", "Another")), ({"quota": 3}, ("cells.1.quota", 20, 3))],
    ids=["title", "quota"],
)
def test_what_the_hash_leaves_out_takes_effect_without_a_new_version(edit, change):
    study = launched_study()
    first = study.versions.get()
    launch_again(study, **edit)
    assert study.versions.get() == first
    assert logged() == [change]
    assert first.cells.get().quota == edit.get("quota", 20)


def test_entry_takes_effect_when_it_is_launched():
    study = launched_study(via="codes")
    study.draft = {**study.draft, "entry": {"via": "open", "participations": None}}
    study.save()
    assert (study.entry, study.entry_rules().participations) == ("codes", 1)
    launch(study)
    assert (study.entry, study.entry_rules().participations) == ("open", None)
    assert [path for path, _before, _after in logged()] == ["entry"]


@pytest.mark.parametrize(
    "edit",
    [
        {"config": {"money": 20_000}},
        {"agents": {"script:fair": {"script": "random"}}},
        {"agents": {"script:fair": agent("script:fair", delay=2)}},
        {"consent": "Please?"},
        {"instructions": "Divide the money."},
        {"quiz": False},
        {"code_word": None},
        {"turn": 99},
        {"absence": 30},
        {"base": "2.50"},
        {"rule": "fixed"},
        {"on_timeout": "default"},
        {"others": "none"},
        {"seats": {"bob": "person", "*": "script:fair"}},
    ],
    ids=lambda edit: next(iter(edit)),
)
def test_launching_an_edit_makes_a_new_version(edit):
    study = launched_study()
    first = study.versions.get()
    before = (first.document, first.sha256, list(first.cells.values()))
    launch_again(study, **edit)
    second = study.latest_version()
    assert second.number == 2
    assert second.sha256 != first.sha256
    first.refresh_from_db()
    assert (first.document, first.sha256, list(first.cells.values())) == before


def test_completions_count_in_every_version_with_the_same_cell():
    wording = {"factors": {"wording": {"levels": ["give", "take"]}}}
    study = launched(instructions=varied("wording", give="G", take="T"), **wording)
    first = {cell.factors["wording"]: cell.sha256 for cell in study.latest_version().cells.all()}
    launch_again(study, instructions=varied("wording", give="G", take="Other"))
    second = {cell.factors["wording"]: cell.sha256 for cell in study.latest_version().cells.all()}
    assert first["give"] == second["give"]
    assert first["take"] != second["take"]


def test_enrolled_participants_keep_their_steps_and_unlaunched_edits_affect_nobody():
    study = launched_study(consent="The first text.", quiz=True)
    early = arrived_participant(study, "early")
    before = early.steps
    study.draft["journey"][1]["quiz"] = False
    study.save()
    assert [step["kind"] for step in arrived_participant(study, "between").steps][-1] == "quiz"
    launch_again(study, consent="The second text.", quiz=False)
    late = arrived_participant(study, "late")
    assert arrived_participant(study, "early") == early
    early.refresh_from_db()
    assert early.steps == before
    assert [early.steps[0]["text"], late.steps[0]["text"]] == ["The first text.", "The second text."]
    assert [step["kind"] for step in late.steps] == ["consent", "name", "instructions", "match"]
    assert (early.placement.version.number, late.placement.version.number) == (1, 2)


def test_plan_with_a_fault_is_not_launched():
    """Which faults there are: plans/tests/test_checking.py."""
    study = new_study(agents="script:fair")
    with pytest.raises(BadPlan) as refused:
        launch_again(study, config={"money": -1})
    assert [fault.at for fault in refused.value.faults] == ["journey.1.config.money"]
    study.refresh_from_db()
    assert study.status == Study.Status.DRAFT
    assert not Version.objects.exists()


@pytest.mark.parametrize(
    ("parts", "part"),
    [({"agents": "nowhere:model"}, "agents"), ({"via": "post"}, "entry"), ({"journey": None}, "journey")],
)
def test_what_is_missing_here_is_named(parts, part):
    study = new_study(**{name: value for name, value in parts.items() if name != "journey"})
    if "journey" in parts:
        page = {"stage": "page", "name": "film", "video": "film.mp4"}
        study.draft["journey"].insert(1, page)
        study.save()
    with pytest.raises(ValidationError) as refused:
        launch(study)
    assert list(refused.value.message_dict) == [part]
    assert not Version.objects.exists()
