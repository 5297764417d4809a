"""Presets for known panels, one TOML file each: initial values for the form of a new panel.

A preset only fills in the form; the values that a researcher saves belong to the panel from then on.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from django.core.exceptions import ValidationError as InvalidPanel
from pydantic import BaseModel, ConfigDict, ValidationError

from panels.endings import Outcome
from panels.models import Panel


class Preset(BaseModel):
    """One panel; its texts are translated where they are shown.

    Attributes:
        key: the file's name.
        title: what researchers and participants call the panel.
        about: a description for the researcher who chooses a panel.
        person, task, session: the names of the link's fields, with spaces between them; the first one present counts.
        check: how an arrival is checked (`Panel.Check`).
        sites: the sites to which its participants may be sent, one address per line.
        destinations: where each outcome leads: an address with variables, a code, or nothing.
        hints: what to enter for each outcome.
        pays: who pays what (`Panel.Pays`).
        columns: the payment list's columns, one "Column = variable" per line.
        lasting: whether an ID means the same person in every study.
        link: the query that the panel must append to the study's address.
        steps: instructions for the researcher on the panel's site, in order.
        source: what this file is based on, and when it was read.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    title: str
    about: str
    person: str
    task: str = ""
    session: str = ""
    check: Panel.Check = Panel.Check.NOTHING
    sites: str = ""
    destinations: Mapping[Outcome, str] = {}
    hints: Mapping[Outcome, str] = {}
    pays: Panel.Pays = Panel.Pays.LIST
    columns: str = "id = person\namount = amount\ncurrency = currency\nreference = reference"
    lasting: bool = True
    link: str = ""
    steps: tuple[str, ...] = ()
    source: str = ""


def read(path: Path) -> Preset:
    """Return the preset in a file; raise ValueError, which names the file and the field, if it is not valid."""
    try:
        preset = Preset(key=path.stem, **tomllib.loads(path.read_text(encoding="utf-8")))
        destinations = {f"to_{outcome}": destination for outcome, destination in preset.destinations.items()}
        copied = preset.model_dump(include={"person", "task", "session", "sites", "columns"})
        Panel(**copied, **destinations).clean()  # what the form would refuse
    except (ValidationError, InvalidPanel, tomllib.TOMLDecodeError) as problem:
        raise ValueError(f"{path.name}: {problem}") from None
    return preset


@cache
def every() -> tuple[Preset, ...]:
    """Return all presets by title, with "any site" last."""
    presets = [read(path) for path in Path(__file__).parent.glob("*.toml")]
    return tuple(sorted(presets, key=lambda preset: (preset.key == "any_site", preset.key)))


def get(key: str) -> Preset:
    """Return the preset with this name, or "any site" if it no longer exists."""
    return next((preset for preset in every() if preset.key == key), every()[-1])
