"""CoopEval: its published records of tournaments, and the tables that its paper prints of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from exports.published import Analysed, Comparison, System
from exports.systems.coopeval.reading import read


def compared(root: Path, analysed: Analysed) -> Iterator[Comparison]:
    """Yield the paper's values beside ours; the libraries of the analyses are loaded for this alone."""
    from exports.systems.coopeval import comparing

    return comparing.compared(root, analysed)


SYSTEM = System("coopeval", "CoopEval", read, compared)
