"""GLEE's games in their published layout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from exports.glee.reading import read_tree
from exports.published import Imported, System, Unreadable


def read(root: Path) -> Iterator[Imported | Unreadable]:
    """Yield every game below `root`, replayed under our rules; the layout prints no results that could disagree."""
    for found in read_tree(root):
        if isinstance(found, Unreadable):
            yield found
            continue
        game = found.game
        yield Imported(
            game.game_id,
            game.family,
            game.config,
            game.players,
            found.payoffs,
            found.metrics,
            found.events,
            found.seed,
            found.unverified,
            names=game.names,
        )


SYSTEM = System("glee", "GLEE", read, games=("bargaining", "negotiation", "persuasion"))
