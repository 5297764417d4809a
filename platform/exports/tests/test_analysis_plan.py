"""The planned analysis is frozen when a study is launched; what changes afterwards is dated and counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from exports.dataset import export
from exports.manifest import read
from exports.tests import building
from exports.verify import verify
from plans.files import loads
from studies.models import Study
from studies.planned import frozen_analysis

pytestmark = pytest.mark.django_db

HORIZON = {
    "name": "horizon",
    "claim": "A longer horizon lowers efficiency.",
    "outcome": "game.efficiency",
    "contrast": {"factor": "rounds", "levels": [3, 2]},
}
OTHER = {**HORIZON, "name": "payoff", "outcome": "game.payoff", "role": "secondary"}


def study(*hypotheses: dict[str, Any], **sample: Any) -> Study:
    """Return a launched study in which the number of rounds varies."""
    return building.new_study(grid={"rounds": [2, 3]}, analysis={"hypotheses": [*hypotheses], "sample": sample})


def relaunch(study: Study, *hypotheses: dict[str, Any], **sample: Any) -> None:
    building.launch_with(study, analysis={"hypotheses": [*hypotheses], "sample": sample})


def test_the_first_launch_freezes_the_analysis_with_every_default() -> None:
    version = study(HORIZON, per_arm=50).versions.get()
    frozen = frozen_analysis(version.study)
    assert frozen is not None
    data = frozen.as_data()
    assert (data["version"], data["version_number"], data["frozen_at"]) == (version.sha256, 1, version.launched_at)
    assert data["hypotheses"][0]["family"] == "main"
    assert data["hypotheses"][0]["contrast"] == {"factor": "rounds", "levels": ["3", "2"]}
    assert data["sample"] == {"per_arm": 50, "why": "", "stop": ""}
    assert data["changes"] == []


def test_later_changes_are_dated_with_what_had_ended() -> None:
    splitting = study()
    building.complete(splitting, worker="one")
    relaunch(splitting, HORIZON)
    building.complete(splitting, worker="two")
    relaunch(splitting, {**HORIZON, "model": "log"}, OTHER, stop="At the quota.")
    relaunch(splitting, OTHER, stop="At the quota.")
    frozen = frozen_analysis(splitting)
    assert frozen is not None
    assert [(c.hypothesis, c.what, c.ended["participants"], c.ended["matches"]) for c in frozen.changes] == [
        ("horizon", "added", 1, 1), ("", "changed", 2, 2), ("horizon", "changed", 2, 2), ("payoff", "added", 2, 2),
        ("horizon", "removed", 2, 2),
    ]  # fmt: skip
    assert frozen.changes[1].fields == {"stop": ("", "At the quota.")}
    assert frozen.changes[2].fields == {"model": ("auto", "log")}
    assert frozen.changes[4].fields["outcome"] == ("game.efficiency", None)
    assert [each.name for each in frozen.analysis.hypotheses] == ["payoff"]
    for words in ("horizon was changed (model: auto → log)", "2 participants and 2 matches"):
        assert words in str(frozen.changes[2])
    assert splitting.versions.count() == 1


def test_a_dataset_says_what_was_planned(tmp_path) -> None:
    splitting = study(HORIZON)
    building.complete(splitting, worker="one")
    relaunch(splitting, {**HORIZON, "claim": "Ask ann@example.org."})
    export(splitting, tmp_path / "data")
    manifest = read((tmp_path / "data" / "manifest.json").read_text())
    assert manifest.analysis_plan is not None
    assert manifest.analysis_plan["version"] == splitting.versions.get().sha256
    assert manifest.analysis_plan["hypotheses"][0]["claim"] == "Ask [e-mail]."
    (change,) = manifest.analysis_plan["changes"]
    assert change["fields"] == {"claim": [HORIZON["claim"], "Ask [e-mail]."]}
    assert (change["ended"], change["at"][-1]) == ({"participants": 1, "matches": 1}, "Z")
    planned = loads((tmp_path / "data" / "plan-v1.yaml").read_text())["analysis"]["hypotheses"]
    (logged,) = json.loads((tmp_path / "data" / "changes.json").read_text())
    assert (planned[0]["claim"], logged["path"]) == (HORIZON["claim"], "analysis")
    assert verify(tmp_path / "data") == []


def test_without_a_launch_or_a_hypothesis_nothing_is_frozen(tmp_path) -> None:
    assert frozen_analysis(Study.objects.create(slug="draft", draft={"analysis": {"hypotheses": [HORIZON]}})) is None
    splitting = study()
    assert frozen_analysis(splitting) is None
    export(splitting, tmp_path / "data")
    assert "analysis_plan" not in (tmp_path / "data" / "manifest.json").read_text()
