"""How a parameter that is no single value is entered in forms for researchers: controls of the game's own.

A game declares them in its `entries.py` as `ENTRIES`, by parameter; the template stands in the game's folder. The
controls are plain fields, so that a form works without a script. With one, the page sends what is typed, and renews
the parts of the template that are marked: `data-part` whenever anything is typed, except that a part with
`data-shape` is renewed only when its shape is another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from games.interface import Json

Typed = Mapping[str, str]
"""What stands in an entry's controls, by control, and in the fields of `Entry.beside`, by parameter."""


class BadEntry(ValueError):
    """What was typed is no value of the parameter.

    Attributes:
        problems: a sentence by control, the most important one first.
    """

    def __init__(self, problems: Mapping[str, str]):
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@dataclass(frozen=True)
class Entry:
    """The controls of one parameter.

    Attributes:
        template: of the game's folder. It reads `name` (controls are named `<name>:<control>`) and what `shows` gives.
        read: the value that was typed, None where nothing was.
            Raises BadEntry.
        filled: what stands in the controls for a value; the inverse of `read`.
        shows: what the template reads, from what is typed.
        when: (another parameter, the value of it) without which there is nothing to enter.
        beside: other parameters that `shows` reads, as their text.
    """

    template: str
    read: Callable[[Typed], Json]
    filled: Callable[[Json], Typed]
    shows: Callable[[Typed], Mapping[str, Any]]
    when: tuple[str, Json] | None = None
    beside: tuple[str, ...] = ()

    def wanted(self, config: Mapping[str, Json]) -> bool:
        """Whether the other parameters leave something to enter."""
        return self.when is None or config.get(self.when[0]) == self.when[1]


def of(key: str) -> Mapping[str, Entry]:
    """The entries of a game, by parameter."""
    if find_spec(f"games.{key}.entries") is None:
        return {}
    entries: Mapping[str, Entry] = import_module(f"games.{key}.entries").ENTRIES
    return entries
