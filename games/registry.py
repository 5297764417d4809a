"""The registered games: every folder of this package with a `rules.py` that defines a `Game`."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from games.errors import UnknownGame
from games.interface import Game
from games.words import gettext as _

CONVERSATION = "conversation"
"""What the stage `chat` plays: no game that anyone chooses."""


@cache
def keys() -> tuple[str, ...]:
    """Return the keys of the games that can be chosen, in alphabetical order."""
    return tuple(key for key in known() if key != CONVERSATION)


@cache
def known() -> tuple[str, ...]:
    """Return the keys of everything that matches can play: the games, and talking without one."""
    return tuple(sorted(path.parent.name for path in Path(__file__).parent.glob("*/rules.py")))


@cache
def get(key: str) -> type[Game[Any, Any]]:
    """Return the game with this key.

    Raises:
        UnknownGame: listing the existing games.
    """
    if key not in known():
        raise UnknownGame(_("There is no game “{key}”; there are {keys}.").format(key=key, keys=", ".join(keys())))
    rules = import_module(f"games.{key}.rules")
    classes = [
        member
        for _name, member in inspect.getmembers(rules, inspect.isclass)
        if issubclass(member, Game) and member.__module__ == rules.__name__
    ]
    if len(classes) != 1:
        raise UnknownGame(_("games/{key}/rules.py must define exactly one Game.").format(key=key))
    return classes[0]
