"""GLEE: its games in their published layout, and the tables that its paper prints of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from exports.glee.reading import read_tree
from exports.published import Analysed, Comparison, Imported, System, Unreadable


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


def compared(root: Path, analysed: Analysed) -> Iterator[Comparison]:
    """Yield the paper's values beside ours; the libraries of the analyses are loaded for this alone."""
    from exports.systems.glee import comparing

    return comparing.compared(root, analysed)


SYSTEM = System("glee", "GLEE", read, compared)
