"""Presets for known panels, one file each: initial values for the form of a new panel.

A preset only fills in the form; the values that a researcher saves belong to the panel from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

from django.utils.functional import Promise

from panels.endings import Outcome

Words = str | Promise


@dataclass(frozen=True)
class Preset:
    """One panel.

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

    key: str
    title: Words
    about: Words
    person: str
    task: str = ""
    session: str = ""
    check: str = "nothing"
    sites: str = ""
    destinations: Mapping[Outcome, str] = field(default_factory=dict)
    hints: Mapping[Outcome, Words] = field(default_factory=dict)
    pays: str = "list"
    columns: str = "id = person\namount = amount\ncurrency = currency\nreference = reference"
    lasting: bool = True
    link: str = ""
    steps: tuple[Words, ...] = ()
    source: Words = ""


@cache
def every() -> tuple[Preset, ...]:
    """Return all presets by title, with "any site" last."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")
    presets = [import_module(f"panels.presets.{name}").PRESET for name in names]
    return tuple(sorted(presets, key=lambda preset: (preset.key == "any_site", preset.key)))


def get(key: str) -> Preset:
    """Return the preset with this name, or "any site" if it no longer exists."""
    return next((preset for preset in every() if preset.key == key), every()[-1])
