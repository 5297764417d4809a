"""Differences between two plans, one line per changed path, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from games.interface import Json
from games.words import gettext as _
from plans.agents import PlannedAgent
from plans.canonical import canonical, canonical_json, inside_hash
from plans.plan import Document
from plans.stages import Lobby, Page, Stage, Timing, kinds
from plans.varying import is_varied

CONTEXT_LINES = 2
"""Number of unchanged lines shown on either side of a change in a text."""
MAX_SHOWN = 160
"""Characters of a value shown in a line."""
MISSING: Any = object()


@dataclass(frozen=True)
class Line:
    """A line of a text: in both ("same"), only before ("removed"), only after ("added"), or skipped ("gap")."""

    kind: Literal["same", "removed", "added", "gap"]
    text: str


@dataclass(frozen=True)
class Change:
    """One changed path.

    Attributes:
        path: its parts; stages and questions by name, levels as "factor = level".
        before, after: the values as text; "–" if there is none.
        lines: the differing lines of a long text.
        in_hash: whether the change makes a new version.
    """

    path: tuple[str, ...]
    before: str
    after: str
    lines: tuple[Line, ...] = ()
    in_hash: bool = True

    @property
    def at(self) -> str:
        """The path in words."""
        return ", ".join(part.replace("_", " ") for part in self.path if part not in ("journey", "of", "items"))

    def __str__(self) -> str:
        if self.lines:
            marks = {"added": "+", "removed": "-"}
            changed = [f"{marks[line.kind]} {line.text}" for line in self.lines if line.kind in marks]
            return f"{self.at}: " + " / ".join(changed)
        unit = SECONDS if self.after.endswith(SECONDS) and _is_seconds(self.path) else ""
        return f"{self.at}: {self.before.removesuffix(unit)} → {self.after}"


def compare(before: Document, after: Document) -> list[Change]:
    """Return the differences between two plans in canonical form; empty if they are the same."""
    old, new = canonical(before), canonical(after)
    old_inside, new_inside = inside_hash(old), inside_hash(new)
    changes = list(_changes(old_inside, new_inside, (), True))
    return changes + list(_changes(_outside(old, old_inside), _outside(new, new_inside), (), False))


def _outside(document: Document, inside: Document) -> dict[str, Json]:
    outside = {name: part for name, part in document.items() if name not in inside}
    cells = document.get("cells")
    if isinstance(cells, Mapping):
        kept = {"quota": cells.get("quota")}
        if isinstance(cells.get("listed"), list):
            kept["listed"] = [
                {key: cell.get(key) for key in ("quota", "weight")}
                for cell in cells["listed"]
                if isinstance(cell, Mapping)
            ]
        outside["cells"] = kept
    return outside


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


def _changes(before: Json, after: Json, path: tuple[str, ...], in_hash: bool) -> Iterator[Change]:
    if canonical_json(_shown(before)) == canonical_json(_shown(after)):
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping) and _may_differ_in_parts(before, after):
        varied = f"{before['by']} = " if is_varied(before) else ""
        old, new = (before["values"], after["values"]) if varied else (before, after)
        for key in dict.fromkeys([*old, *new]):
            parts = (*path, f"{varied}{key}")
            yield from _changes(old.get(key, MISSING), new.get(key, MISSING), parts, in_hash)
    elif _is_named(before) and _is_named(after):
        old, new = _by_name(before), _by_name(after)
        for name in dict.fromkeys([*old, *new]):
            yield from _changes(old.get(name, MISSING), new.get(name, MISSING), (*path, name), in_hash)
        if set(old) == set(new) and list(old) != list(new):
            yield Change((*path, _("order")), ", ".join(old), ", ".join(new), in_hash=in_hash)
    else:
        lines: tuple[Line, ...] = ()
        if isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
            lines = difference(before, after)
        yield Change(path, _in_words(path, before), _in_words(path, after), lines, in_hash)


def _may_differ_in_parts(before: Mapping[str, Json], after: Mapping[str, Json]) -> bool:
    """Return whether two nodes are of one kind: both depend on the same factor, or neither on any."""
    if not is_varied(before) and not is_varied(after):
        return True
    return before.get("by") == after.get("by") and all(
        isinstance(each.get("values"), Mapping) for each in (before, after)
    )


def _shown(value: Json) -> Json:
    return "" if value is MISSING else {"value": value}


def _is_named(value: Json) -> bool:
    return (
        isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(each, Mapping) for each in value)
    )


def _by_name(nodes: Sequence[Mapping[str, Json]]) -> dict[str, Mapping[str, Json]]:
    """Return stages or questions by name, or by kind and number where they have none."""
    named: dict[str, Mapping[str, Json]] = {}
    for number, node in enumerate(nodes, start=1):
        name = str(node.get("name") or node.get("stage") or number)
        named[name if name not in named else f"{name} {number}"] = node
    return named


def _in_words(path: tuple[str, ...], value: Json) -> str:
    text = said(value)
    if len(text) > MAX_SHOWN:
        text = f"{text[: MAX_SHOWN - 1]}…"
    unit = SECONDS if isinstance(value, int | float) and _is_seconds(path) else ""
    return f"{text}{unit}" or "“”"


def said(value: Json) -> str:
    """Return plain data in words: parts as “name: value”, without those that are empty."""
    if value is MISSING or value is None:
        return "–"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, Mapping) and is_varied(value):
        values = value.get("values")
        levels = f" ({said(values)})" if isinstance(values, Mapping) else ""
        return _("by {factor}").format(factor=value["by"]) + levels
    if isinstance(value, Mapping) and value.get("stage"):
        return _("a stage “{kind}”").format(kind=kinds().get(value["stage"], Stage).label or value["stage"])
    if isinstance(value, Mapping):
        parts = (f"{name}: {said(each)}" for name, each in value.items() if each not in (None, "", [], {}))
        return "; ".join(parts).replace("_", " ") or "–"
    if isinstance(value, list):
        return ", ".join(map(said, value)) or "–"
    return value if isinstance(value, str) else canonical_json(value)


SECONDS = " s"
_IN_SECONDS = frozenset(
    name
    for model in (Timing, Lobby, Page, PlannedAgent)
    for name, info in model.model_fields.items()
    if isinstance(info.json_schema_extra, dict) and info.json_schema_extra.get("unit") == "seconds"
)


def _is_seconds(path: tuple[str, ...]) -> bool:
    return next((part for part in reversed(path) if " = " not in part), "") in _IN_SECONDS
