"""The examples of docs/api.md run verbatim against a live stack, whose worker writes the dataset."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from config.supervisor import ROOT
from exports.verify import verify
from tests.examples import executed_blocks

pytestmark = pytest.mark.services

EXAMPLES = [block.code for block in executed_blocks(ROOT / "docs" / "api.md")]
STUDY = {
    "title": "Examples", "slug": "api-examples", "game": "bargaining", "roles": ["alice"], "agents": "script:fair",
    "via": "open",
}  # fmt: skip


def run(example: str, environment: dict[str, str], folder: Path) -> str:
    """Run an example, which must succeed; return its output."""
    process = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", example], env={**os.environ, **environment}, cwd=folder,
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert process.returncode == 0, f"{example}\n{process.stdout}{process.stderr}"
    return process.stdout


@pytest.mark.slow
def test_api_examples_work(stack, tmp_path):
    slug = stack.launch_study(STUDY)
    stack.reach_first_turn(slug)
    token = stack.call("tests.actions.api_token", slug, ["read", "export", "manage"])
    environment = {"PARLEY": stack.url, "TOKEN": token, "STUDY": slug}
    outputs = [run(example, environment, tmp_path) for example in EXAMPLES]
    assert len(outputs) == 8
    assert '"slug": "api-examples"' in outputs[0]
    assert '"live": 1' in outputs[1]
    assert '"matches": []' in outputs[2], "nothing is finished yet"
    assert '"uid"' in outputs[3] and '"playing"' in outputs[4]
    assert outputs[5] == "", "nothing has changed"
    with zipfile.ZipFile(tmp_path / "dataset.zip") as archive:
        archive.extractall(tmp_path / "dataset")
    (folder,) = (tmp_path / "dataset").iterdir()
    assert verify(folder) == []
    assert '"paused"' in outputs[7] and '"launched"' in outputs[7]
    assert not any(token[-43:] in stack.log(name) for name in stack.services)
