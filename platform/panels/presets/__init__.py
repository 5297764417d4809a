"""How known panels work, one file each: what the form of a new panel is filled in with.

A preset only fills in; what a researcher has saved is the panel's own from then on.
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
        title: how researchers and participants call the panel.
        about: what it is, for anyone who chooses.
        person, task, session: the names of the link's fields, separated by spaces; the first that is there counts.
        check: how an arrival is checked (`Panel.Check`).
        sites: where its people may be sent, one address a line.
        leads: for each outcome, where it leads: an address with variables, a code, or nothing.
        hints: for each outcome, what to type there.
        pays: who pays what (`Panel.Pays`).
        columns: of the payment list, one "Column = variable" a line.
        lasting: whether an ID means the same person in every study.
        link: what the panel is told to append to the study's address.
        steps: what the researcher does at the panel, in order.
        source: what was read to write this file, and when.
    """

    key: str
    title: Words
    about: Words
    person: str
    task: str = ""
    session: str = ""
    check: str = "nothing"
    sites: str = ""
    leads: Mapping[Outcome, str] = field(default_factory=dict)
    hints: Mapping[Outcome, Words] = field(default_factory=dict)
    pays: str = "list"
    columns: str = "id = person\namount = amount\ncurrency = currency\nreference = reference"
    lasting: bool = True
    link: str = ""
    steps: tuple[Words, ...] = ()
    source: Words = ""


@cache
def every() -> tuple[Preset, ...]:
    """All presets by title; "any site" last."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem != "__init__")
    found = [import_module(f"panels.presets.{name}").PRESET for name in names]
    return tuple(sorted(found, key=lambda one: (one.key == "any_site", one.key)))


def get(key: str) -> Preset:
    """The preset of this name; "any site" where there is none any more."""
    return next((one for one in every() if one.key == key), every()[-1])
