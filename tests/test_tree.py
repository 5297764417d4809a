"""The repository's files work in every clone."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINK = "120000"
"""The file mode of a symbolic link in git."""
VENDORED = ROOT / "static" / "vendor"


def test_no_symbolic_link_is_tracked():
    """A tracked link to an environment on one machine would break `make` on every other machine."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git repository, but unpacked from an archive")
    tracked_files = subprocess.run(["git", "ls-files", "--stage"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line for line in tracked_files.stdout.splitlines() if line.startswith(LINK)] == []


def test_every_vendored_script_keeps_its_licence():
    notices = (ROOT / "LICENSE").read_text()
    for folder in VENDORED.iterdir():
        assert (folder / "LICENSE").read_text().strip()
        assert f"static/vendor/{folder.name}" in notices
