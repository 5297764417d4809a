"""The manifest of a dataset: its source, content and hashes."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from pydantic import BaseModel, ConfigDict

FILE = "manifest.json"
FORMAT = "parley-dataset"
FORMAT_VERSION = 6

NOTICE = "Data of a study on Parley."
DEMONSTRATION_NOTICE = (
    "This is a DEMONSTRATION dataset: anyone may have played, several times, unpaid. It shows the format and is not "
    "research data."
)

SIMULATED_NOTICE = (
    "This dataset is SIMULATED: scripts with known behaviour took the place of people, and nobody was paid. It shows "
    "the format and what analyses find in it, and is not research data."
)


def notice_of(purpose: str) -> str:
    """Return what the data are: a study's, a demonstration's or simulated ones."""
    return {"demo": DEMONSTRATION_NOTICE, "simulated": SIMULATED_NOTICE}.get(purpose, NOTICE)


_OPTIONAL = ("publication", "analysis_plan", "include", "times")
"""Keys that are absent if there is nothing to say."""


class FileEntry(BaseModel):
    """One file of a dataset; `rows` is the number of records without the header, None for files without records."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: str
    bytes: int
    rows: int | None = None


class Manifest(BaseModel):
    """The manifest's content. `sha256` is the hash of the rest of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: str = FORMAT
    format_version: int = FORMAT_VERSION
    study: Mapping[str, str]
    publication: Mapping[str, str] | None = None
    demonstration: bool
    notice: str
    created_at: str
    cutoff: str
    software: Mapping[str, str]
    versions: tuple[Mapping[str, Any], ...]
    formats: tuple[str, ...]
    analysis_plan: Mapping[str, Any] | None = None
    """The planned analysis as now in force: {frozen_at, version (its hash), version_number, hypotheses, sample, changes
    after the first launch}; absent if no hypothesis was ever planned."""
    information: tuple[str, ...] = ()
    """What its agents were told: "published" or "explained", or both, which are never pooled silently."""
    include: tuple[str, ...] | None = None
    """What else the dataset holds: "excluded" for excluded rows."""
    times: str | None = None
    """"minute" or "hour" if points in time are cut to it."""
    files: Mapping[str, FileEntry]
    counts: Mapping[str, int]
    flow: Mapping[str, Any]
    sha256: str = ""

    def rendered(self) -> str:
        """Return the manifest's text, including its own hash."""
        absent_fields = {name for name in _OPTIONAL if getattr(self, name) is None}
        content = self.model_dump(mode="json", exclude={"sha256", *absent_fields})
        return _pretty({**content, "sha256": hashlib.sha256(_pretty(content).encode()).hexdigest()})


def read(text: str) -> Manifest:
    """Return the manifest in `text`.

    Raises:
        ValueError: it is not a manifest.
    """
    return Manifest.model_validate_json(text)


def _pretty(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=True, indent=2) + "\n"


@lru_cache(maxsize=1)
def software_version() -> str:
    """Return this software's version from the project file; "unversioned" if there is none."""
    project = Path(settings.BASE_DIR) / "pyproject.toml"
    if not project.exists():
        return "unversioned"
    version: str = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {}).get("version", "unversioned")
    return version
