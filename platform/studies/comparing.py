"""Readable differences between two versions of a study, or between two texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _

from studies.freezing import parts_of

CONTEXT_LINES = 2
"""Number of unchanged lines shown on either side of a change."""
MAX_VALUES = 12
"""Maximum number of values listed for one parameter."""
TITLES = {
    "format": _("Format"),
    "game": _("Game"),
    "rules_version": _("Rules version"),
    "configurations": _("Parameters"),
    "agents": _("Agents"),
    "lineups": _("Line-ups"),
    "cells": _("Cells: roles, quotas and opponents"),
    "purpose": _("Purpose"),
    "texts": _("Texts"),
    "surveys": _("Surveys"),
    "told": _("What participants learn about the other players"),
    "behaviour": _("Page behaviour"),
    "checks": _("Checks"),
    "timers": _("Timers"),
    "lobby": _("Lobby"),
    "about_minutes": _("Announced minutes"),
    "pay": _("Pay"),
    "session": _("Matches per session"),
    "further": _("Other games in the session"),
    "entry": _("Who may enter"),
}


@dataclass(frozen=True)
class Line:
    """A line of a text: in both ("same"), only before ("removed"), only after ("added"), or skipped ("gap")."""

    kind: Literal["same", "removed", "added", "gap"]
    text: str


@dataclass(frozen=True)
class Change:
    """One difference: two values, or the lines of a text."""

    name: str
    before: str = ""
    after: str = ""
    lines: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Part:
    """A part that differs, with its hash before and after; a hash is empty if the part is missing there."""

    name: str
    title: str
    hashes: tuple[str, str]
    changes: tuple[Change, ...]


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Part]:
    """Return the parts that differ between two versions' contents; empty if they are equal."""
    hashes = parts_of(before), parts_of(after)
    names = list(dict.fromkeys([*before, *after]))
    return [
        Part(
            name=name,
            title=str(TITLES.get(name, name.replace("_", " "))),
            hashes=(hashes[0].get(name, ""), hashes[1].get(name, "")),
            changes=tuple(_changes(name, before.get(name), after.get(name))),
        )
        for name in names
        if hashes[0].get(name) != hashes[1].get(name)
    ]


def difference(before: str, after: str) -> tuple[Line, ...]:
    """Return a line-by-line diff with some unchanged lines around each change; empty if the texts are equal."""
    old, new = before.strip().splitlines(), after.strip().splitlines()
    if old == new:
        return ()
    lines: list[Line] = []
    for group in SequenceMatcher(a=old, b=new, autojunk=False).get_grouped_opcodes(CONTEXT_LINES):
        if group[0][1] > 0 or group[0][3] > 0:
            lines.append(Line("gap", ""))
        for tag, first, last, first_new, last_new in group:
            if tag == "equal":
                lines += [Line("same", text) for text in old[first:last]]
            else:
                lines += [Line("removed", text) for text in old[first:last]]
                lines += [Line("added", text) for text in new[first_new:last_new]]
    return tuple(lines)


def _changes(part: str, before: Any, after: Any) -> Iterator[Change]:
    old, new = dict(_flatten(part, before)), dict(_flatten(part, after))
    has_changes = False
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) == new.get(name):
            continue
        has_changes = True
        title = name.removeprefix(part).strip(" ·") or str(TITLES.get(part, part))
        old_text, new_text = old.get(name, "–"), new.get(name, "–")
        if part == "texts" or "\n" in old_text + new_text:
            yield Change(
                title, lines=difference("" if old_text == "–" else old_text, "" if new_text == "–" else new_text)
            )
        else:
            yield Change(title, before=old_text, after=new_text)
    if not has_changes:
        yield Change(str(_("Same values, different order or combination.")))


def _flatten(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield every value with its path as text; for a list of objects, the values that each key takes."""
    if isinstance(value, Mapping):
        for key, inner_value in value.items():
            yield from _flatten(f"{name} · {str(key).replace('_', ' ')}", inner_value)
    elif _is_list(value) and value and all(isinstance(item, Mapping) for item in value):
        yield f"{name} · " + str(_("number")), str(len(value))
        values_by_path: dict[str, dict[str, None]] = {}
        for item in value:
            for path, text in _flatten(name, item):
                values_by_path.setdefault(path, {})[text] = None
        for path, values in values_by_path.items():
            listed = list(values)[:MAX_VALUES]
            yield path, ", ".join(listed) + (" …" if len(values) > MAX_VALUES else "")
    elif _is_list(value):
        yield name, ", ".join(map(_readable, value)) or _readable(None)
    else:
        yield name, _readable(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _readable(value: Any) -> str:
    if value is None:
        return str(_("none"))
    if isinstance(value, bool):
        return str(_("yes") if value else _("no"))
    return f"{value:.10g}" if isinstance(value, float) else str(value)
