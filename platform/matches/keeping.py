"""Templates that are rendered once for all that they read: parts of pages that recur from match to match.

What a template shows must follow from the variables that it reads, and it may read `view` and `ends` only by key.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from django.template import Context
from django.utils.safestring import mark_safe
from django.utils.translation import get_language

MAX_KEPT = 4096
"""How many rendered templates a process keeps, of two to three kilobytes each."""
_MISSING = ...


class _Read(NamedTuple):
    """What a template reads: a variable or, of one whose parts count singly, the part with a key."""

    name: str
    key: str | None = None

    def of(self, context: Context) -> Any:
        whole = context.get(self.name, _MISSING)
        return whole if self.key is None or whole is _MISSING else _PARTS[self.name](whole, self.key)


_PARTS = {"view": lambda blocks, key: blocks.get(key, _MISSING), "ends": lambda answers, key: key in answers}
"""Variables whose parts count singly: the blocks of a view, and whether an answer ends the game."""


class _Reads:
    """The variables of a context to a template that is rendered in it; notes what is read, in order."""

    def __init__(self, context: Context):
        self._context = context
        self.values: dict[_Read, Any] = {}

    def read(self, read: _Read) -> Any:
        if read not in self.values:
            self.values[read] = read.of(self._context)
        return self.values[read]

    def __contains__(self, name: str) -> bool:
        return (name in _PARTS and name in self._context) or self.read(_Read(name)) is not _MISSING

    def __getitem__(self, name: str) -> Any:
        return _Part(self, name) if name in _PARTS else self.read(_Read(name))


class _Part:
    """A variable whose parts count singly, as a template reads it."""

    def __init__(self, reads: _Reads, name: str):
        self._reads, self._name = reads, name

    def __contains__(self, key: str) -> bool:
        return bool(self._reads.read(_Read(self._name, key)))

    def __getitem__(self, key: str) -> Any:
        return self.get(key, None)

    def get(self, key: str, otherwise: Any) -> Any:
        value = self._reads.read(_Read(self._name, key))
        return otherwise if value is _MISSING else value


class _Kept:
    """What follows for a template from what it has read so far: what it reads next, by value, or its HTML."""

    def __init__(self, value: Any = None) -> None:
        self.value = value
        self.read: _Read | None = None
        self.by_value: dict[str, _Kept] = {}
        self.by_identity: dict[int, _Kept] = {}
        self.html: str | None = None

    def after(self, value: Any) -> _Kept | None:
        """Return what follows from this value of `read`; 1, 1.0 and True are equal but look different."""
        known = self.by_identity.get(id(value))
        if known is not None and known.value is value:
            return known
        known = self.by_value.get(repr(value))
        return known if known is not None and known.value == value else None

    def put(self, value: Any) -> _Kept:
        """Return a new place for what follows from this value."""
        new = self.by_value[repr(value)] = self.by_identity[id(value)] = _Kept(value)
        return new


_kept: dict[tuple[str, str], _Kept] = {}
_number = 0


def render_kept(name: str, context: Context) -> str:
    """Return the HTML of a template included in a context; it is kept for all that it reads, and the language."""
    global _number
    known = _kept.get((name, get_language()))
    while known is not None and known.read is not None:
        known = known.after(known.read.of(context))
    if known is not None and known.html is not None:
        return known.html
    reads = _Reads(context)
    scope = context.new(reads)  # type: ignore[arg-type]
    with scope.push():  # for what the template itself sets
        html = mark_safe(context.template.engine.get_template(name).render(scope))  # type: ignore[union-attr]
    if _number >= MAX_KEPT:
        _number = 0
        _kept.clear()
    _number += 1
    node = _kept.setdefault((name, get_language()), _Kept())
    for read, value in reads.values.items():
        node.read = read
        node = node.after(value) or node.put(value)
    node.html = html
    return html
