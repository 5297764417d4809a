"""Custom controls for parameters that are not single values, in forms for researchers.

A game declares them in its `entries.py` as `ENTRIES`, by parameter, with templates in the game's folder. The
controls are plain fields, so a form works without JavaScript. With JavaScript, the page sends what is typed and
refreshes the marked parts of the template: `data-part` whenever anything is typed, except that a part with
`data-shape` is refreshed only when its shape changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from games.interface import Json

Typed = Mapping[str, str]
"""The text in an entry's controls, by control, and in the fields of `Entry.related`, by parameter."""


class BadEntry(ValueError):
    """What was typed is not a valid value of the parameter.

    Attributes:
        problems: a sentence per control, the most important one first.
    """

    def __init__(self, problems: Mapping[str, str]):
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@dataclass(frozen=True)
class Entry:
    """The controls of one parameter.

    Attributes:
        template: in the game's folder. Its variables are `name` (controls are named `<name>:<control>`) and what
            `context` returns.
        read: returns the value that was typed, None if nothing was.
            Raises BadEntry.
        initial: returns the text in the controls for a value; the inverse of `read`.
        context: returns the template's variables for what is typed.
        condition: (another parameter, the value it must have); with any other value there is nothing to enter.
        related: other parameters whose text `context` reads.
    """

    template: str
    read: Callable[[Typed], Json]
    initial: Callable[[Json], Typed]
    context: Callable[[Typed], Mapping[str, Any]]
    condition: tuple[str, Json] | None = None
    related: tuple[str, ...] = ()

    def applies(self, config: Mapping[str, Json]) -> bool:
        """Return whether the other parameters leave something to enter."""
        return self.condition is None or config.get(self.condition[0]) == self.condition[1]


def of(key: str) -> Mapping[str, Entry]:
    """Return the entries of a game, by parameter."""
    if find_spec(f"games.{key}.entries") is None:
        return {}
    entries: Mapping[str, Entry] = import_module(f"games.{key}.entries").ENTRIES
    return entries
