"""The example notebook runs from start to finish."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exports.dataset import export
from exports.tests import building

ROOT = Path(__file__).parents[3]


@pytest.mark.django_db
def test_the_example_notebook_runs(monkeypatch, tmp_path):
    study = building.new_study()
    for worker in ("A1", "A2"):
        building.complete(study, worker=worker)
    export(study, tmp_path / "data")
    monkeypatch.setenv("DATASET", str(tmp_path / "data"))
    names: dict[str, object] = {}
    for cell in json.loads((ROOT / "docs" / "analysis.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert len(names["data"].matches) == 2
    assert names["outcomes"].status == "done"
