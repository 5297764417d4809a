"""The example notebook runs from start to finish."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[3]
DATASET = ROOT / "platform" / "exports" / "tests" / "format_4"


def test_the_example_notebook_runs(monkeypatch):
    monkeypatch.setenv("DATASET", str(DATASET))
    names: dict[str, object] = {}
    for cell in json.loads((ROOT / "docs" / "analysis.ipynb").read_text())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert len(names["data"].matches) == 2
    assert names["outcomes"].status == "done"
