"""A study's preregistration says in sentences what its plan says, and since when."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from exports.preregistering import preregistration
from exports.tests import building
from plans.tests.test_hypotheses import FRAMING, STUDY
from studies.launching import launch
from studies.models import Study
from studies.tests.kit import administrator

pytestmark = pytest.mark.django_db


@pytest.fixture
def framing() -> Study:
    return Study.objects.create(slug="framing", draft=STUDY)


def part(text: str, heading: str) -> str:
    """Return what stands below a heading."""
    mark = f"{'#' * heading.count('#')} "
    return text.partition(f"\n{heading}\n")[2].partition(f"\n{mark}")[0].strip()


def test_a_draft_is_not_yet_frozen(framing: Study) -> None:
    text = preregistration(framing)
    assert "Not yet frozen" in text
    assert "Nobody had taken part" in part(text, "## 1. Data so far")


def test_a_launched_study_says_since_when_and_under_which_hash(framing: Study) -> None:
    version = launch(framing)
    text = preregistration(framing)
    assert f"Frozen on {version.launched_at:%Y-%m-%d %H:%M} UTC with version 1, SHA-256 {version.sha256}." in text


def test_a_hypothesis_is_in_full_sentences(framing: Study) -> None:
    text = preregistration(framing)
    assert part(text, "## 2. Hypotheses") == "- framing (primary). Taking lowers efficiency."
    model = part(text, "### Models")
    assert model.startswith("- framing: ")
    for words in ("is talk.efficiency", "under wording “take” minus", "under “give”", "linear regression",
                  "adjusted for before.age", "estimated twice", "everybody as assigned", "complete data only",
                  "before.age < 18 are left out"):  # fmt: skip
        assert words in model


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"contrast": {"factors": ["wording", "rounds"], "levels": [["take", "give"], [12, 1]]}},
            "“12”, minus the same difference",
        ),
        (
            {"contrast": {"players": ["human", "agent"], "role": "bob"}},
            "a person in the seat bob",
        ),
        ({"outcome": "talk.agreement"}, "a linear probability model"),
        ({"model": "log"}, "reported as a ratio"),
        ({"estimand": "completed"}, "of complete data only"),
    ],
)
def test_every_comparison_and_model_has_its_words(framing: Study, changes: dict[str, Any], says: str) -> None:
    framing.draft = {**STUDY, "analysis": {"hypotheses": [{**FRAMING, **changes}]}}
    assert says in part(preregistration(framing), "### Models")


def test_the_design_is_that_of_the_plan(framing: Study) -> None:
    text = preregistration(framing)
    conditions = part(text, "## 4. Conditions")
    assert "between participants: “take” and “give”" in conditions
    assert "in the block games: “1” and “12”" in conditions
    assert "wording give · opponent haggler: 10" in conditions
    assert "before the stage opening" in conditions and "permuted blocks" in conditions
    assert "age: “How old are you?”" in part(text, "### Description")
    assert "rounds by rounds" in part(text, "### Description")
    size = part(text, "## 7. Sample size")
    for words in ("40 complete matches with 60", "100 complete matches for each", "Why: A pilot.", ": At the quota."):
        assert words in size


def test_only_exclusions_that_can_happen_are_named(framing: Study) -> None:
    text = part(preregistration(framing), "### Exclusions")
    assert "wrong code word" in text and "Another person left the match" in text
    assert "quiz after the game" not in text and "screened out" not in text


def test_later_changes_and_data_are_told() -> None:
    study = building.new_study(grid={"rounds": [2, 3]}, analysis={"hypotheses": []})
    building.complete(study, worker="one")
    late = {"name": "late", "outcome": "game.efficiency", "contrast": {"factor": "rounds", "levels": [2, 3]}}
    building.launch_with(study, analysis={"hypotheses": [late]})
    data = part(preregistration(study), "## 1. Data so far")
    assert "1 participant and 1 match" in data.partition("late was added after")[0]
    assert "late was added after 1 participant" in data


def test_command_and_button_give_the_same_text(framing: Study, tmp_path, capsys, client) -> None:
    call_command("preregistration", "framing", to=str(tmp_path / "text.md"))
    call_command("preregistration", "framing")
    administrator(client)
    page = client.get(reverse("admin:studies_study_change", args=[framing.pk])).content.decode()
    address = reverse("exports:preregistration", args=[framing.pk])
    text = preregistration(framing)
    assert f'href="{address}"' in page
    assert client.get(address).content.decode() == (tmp_path / "text.md").read_text() == capsys.readouterr().out == text


def test_a_draft_with_faults_has_none(framing: Study) -> None:
    Study.objects.update(draft={**STUDY, "title": ""})
    with pytest.raises(CommandError, match="study a title"):
        call_command("preregistration", "framing")
