"""AucArena: the files that its program writes of each auction, and the numbers that its paper prints."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from exports.published import Analysed, Comparison, System
from exports.systems.aucarena.reading import read


def compared(root: Path, analysed: Analysed) -> Iterator[Comparison]:
    """Yield the program's and the paper's values beside ours; the analyses' libraries are loaded for this alone."""
    from exports.systems.aucarena import comparing

    return comparing.compared(root, analysed)


SYSTEM = System("aucarena", "AucArena", read, compared)
