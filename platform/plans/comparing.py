"""Differences between two plans, one line per changed path, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Literal

from games.interface import Json
from games.words import gettext as _
from plans.canonical import canonical, canonical_json, inside_hash
from plans.plan import Document
from plans.stages import Stage, kinds

CONTEXT_LINES = 2
"""Number of unchanged lines shown on either side of a change in a text."""
MAX_SHOWN = 80
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
        at: the dotted path; stages by name.
        before, after: the values as text; "–" if there is none.
        lines: the differing lines of a long text.
        in_hash: whether the change makes a new version.
    """

    at: str
    before: str
    after: str
    lines: tuple[Line, ...] = ()
    in_hash: bool = True

    def __str__(self) -> str:
        if self.lines:
            changed = [
                f"{'+' if line.kind == 'added' else '-'} {line.text}"
                for line in self.lines
                if line.kind in ("added", "removed")
            ]
            return f"{self.at}: " + " / ".join(changed)
        return f"{self.at}: {self.before} → {self.after}"


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
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*before, *after]):
            yield from _changes(before.get(key, MISSING), after.get(key, MISSING), (*path, str(key)), in_hash)
    elif _is_named(before) and _is_named(after):
        old, new = _by_name(before), _by_name(after)
        for name in dict.fromkeys([*old, *new]):
            yield from _changes(old.get(name, MISSING), new.get(name, MISSING), (*path, name), in_hash)
        if set(old) == set(new):
            order = [", ".join(names) for names in (old, new)]
            if order[0] != order[1]:
                yield Change(".".join([*path, _("order")]), order[0], order[1], in_hash=in_hash)
    else:
        lines = ()
        if isinstance(before, str) and isinstance(after, str) and "\n" in before + after:
            lines = difference(before, after)
        yield Change(".".join(path), _in_words(path, before), _in_words(path, after), lines, in_hash)


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
    if value is MISSING or value is None:
        return "–"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, Mapping) and set(value) == {"by", "values"}:
        levels = "; ".join(f"{level}: {_in_words(path, each)}" for level, each in value["values"].items())
        return _("by {factor} ({levels})").format(factor=value["by"], levels=levels)[: 3 * MAX_SHOWN]
    if isinstance(value, Mapping) and value.get("stage"):
        return _("a stage “{kind}”").format(kind=kinds().get(value["stage"], Stage).label or value["stage"])
    text = value if isinstance(value, str) else canonical_json(value)
    unit = " s" if isinstance(value, int | float) and _is_seconds(path) else ""
    return (text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…") + unit or "“”"


_SECONDS = frozenset({"turn", "extension", "report", "absence", "grace", "wait", "ready", "delay", "seconds"})


def _is_seconds(path: tuple[str, ...]) -> bool:
    return bool(path) and path[-1] in _SECONDS
