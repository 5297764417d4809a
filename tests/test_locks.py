"""The lock files are complete for every supported Python, not only for the one that made them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("requirements", "requirements-analysis", "requirements-test")
"""Each is installed together with those before it."""
DEBIANS = "3.11.2"
PYTHONS = ("3.11.0", DEBIANS, "3.11.3", "3.11.14", "3.12.0", "3.12.12", "3.13.0", "3.13.9")


def listed(path: Path) -> list[Requirement]:
    """Return the requirements in a file, without the hashes."""
    lines = re.findall(r"^[a-z0-9][^\\#\n]*", path.read_text(), re.MULTILINE)
    return [Requirement(line.strip()) for line in lines]


def needed(layers: tuple[str, ...], python: str) -> Iterator[Requirement]:
    """Yield what the layers need under `python`, directly or through installed packages."""
    todo = [requirement for layer in layers for requirement in listed(ROOT / f"{layer}.txt")]
    seen = set[tuple[str, str]]()
    while todo:
        requirement = todo.pop()
        yield requirement
        for extra in ("", *requirement.extras):
            key = (canonicalize_name(requirement.name), extra)
            if key in seen:
                continue
            seen.add(key)
            try:
                lines = requires(requirement.name) or []
            except PackageNotFoundError:
                continue  # another Python's; that it is pinned is checked by the caller
            environment = {"python_full_version": python, "python_version": python.rsplit(".", 1)[0], "extra": extra}
            dependencies = (Requirement(line) for line in lines)
            todo += [each for each in dependencies if each.marker is None or each.marker.evaluate(environment)]


@pytest.mark.parametrize("number", range(1, len(LAYERS) + 1))
@pytest.mark.parametrize("python", PYTHONS)
def test_lock_pins_all_that_a_python_needs(python: str, number: int):
    environment = {"python_full_version": python, "python_version": python.rsplit(".", 1)[0]}
    pins = {
        canonicalize_name(pin.name): pin.specifier
        for layer in LAYERS[:number]
        for pin in listed(ROOT / f"{layer}.lock")
        if pin.marker is None or pin.marker.evaluate(environment)
    }
    for requirement in needed(LAYERS[:number], python):
        pin = pins.get(canonicalize_name(requirement.name))
        assert pin is not None, f"Python {python} needs {requirement}: run deploy/setup/lock.sh --keep"
        version = str(pin).removeprefix("==")
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement}, but {version} is pinned"


@pytest.mark.parametrize("lock", sorted(ROOT.glob("requirements*.lock")), ids=lambda path: path.name)
def test_lock_has_hashes_and_names_no_registry(lock: Path):
    text = lock.read_text()
    pins = re.findall(r"^[a-z0-9][^\n]*\\\n( +--hash=sha256:[0-9a-f]{64}[ \\\n]*)+", text, re.MULTILINE)
    assert len(pins) == len(listed(lock)) > 0
    assert "://" not in text and "index" not in text
