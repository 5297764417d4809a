"""The draw of a cell: pure functions of what is open and what was drawn before, so that every draw can be repeated.

A draw is recorded as plain data:

    rule        blocks, random, emptiest
    number      counts the version's draws, from 1
    stratum     the earlier answers that it is balanced in, as JSON; "" without strata
    open        {times: cells} of the cells that could be drawn, such as {"2": "1-40,43"}: each stands as often in the
                draw as its key says (`open_cells` returns their probabilities)
    forced      whether a link named the cell, which then was the only one
    completes   whether it completes a group that was forming; such a draw does not use up a block
    block       with rule "blocks": the number of the block in its stratum, from 0
    seed        of the random number that chose among the open cells

Enrolling adds `place`: the participant's number in the cell, from 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

Rule = Literal["blocks", "random", "emptiest"]


@dataclass(frozen=True)
class Open:
    """A cell that can be drawn.

    Attributes:
        share: how full it is, from 0.
        forming: whether it holds participants who still lack others of their group.
    """

    number: int
    weight: int = 1
    share: float = 0
    forming: bool = False


@dataclass(frozen=True)
class Block:
    """The stratum's current block: its number, and how often each cell was drawn in it."""

    number: int = 0
    drawn: Mapping[int, int] | None = None


def draw(
    cells: Sequence[Open], *, rule: Rule, number: int, seed: str, stratum: str = "", block: Block | None = None
) -> dict[str, Any]:
    """Return the record of a draw among these cells; `drawn` reads the cell from it.

    Groups that are forming are completed first: their cells alone are open. Otherwise "blocks" draws without
    replacement from blocks in which each cell stands as often as its weight, "random" by weight, and "emptiest"
    evenly among the cells with the lowest share.
    """
    record: dict[str, Any] = {"rule": rule, "number": number, "stratum": stratum, "forced": False, "seed": seed}
    if forming := [cell for cell in cells if cell.forming]:
        lowest = min(cell.share for cell in forming)
        chances = {cell.number: 1 for cell in forming if cell.share == lowest}
        record["completes"] = True
    elif rule == "emptiest":
        lowest = min(cell.share for cell in cells)
        chances = {cell.number: 1 for cell in cells if cell.share == lowest}
    elif rule == "random":
        chances = {cell.number: cell.weight for cell in cells}
    else:
        record["block"], chances = _rest_of_block(cells, block or Block())
    return {**record, "open": _packed(chances)}


def forced(cell: int, *, rule: Rule, number: int, seed: str) -> dict[str, Any]:
    """Return the record of a cell that a link named."""
    return {"rule": rule, "number": number, "stratum": "", "open": {"1": str(cell)}, "forced": True, "seed": seed}


def drawn(record: Mapping[str, Any]) -> int:
    """Return the number of the cell that was drawn."""
    point, reached = Random(record["seed"]).random(), 0.0
    cells = open_cells(record)
    for cell, probability in cells.items():
        reached += probability
        if point < reached:
            return cell
    return list(cells)[-1]


def open_cells(record: Mapping[str, Any]) -> dict[int, float]:
    """Return the probability of every cell that could be drawn, by its number, in order."""
    times: dict[int, int] = {}
    for number, ranges in record["open"].items():
        for each in ranges.split(","):
            first, _dash, last = each.partition("-")
            times.update(dict.fromkeys(range(int(first), int(last or first) + 1), int(number)))
    total = sum(times.values())
    return {cell: times[cell] / total for cell in sorted(times)}


def _packed(times: Mapping[int, int]) -> dict[str, str]:
    """Return the cells that stand equally often together, as ranges: a plan may have thousands."""
    packed: dict[str, str] = {}
    for number in sorted(set(times.values())):
        ranges: list[list[int]] = []
        for cell in sorted(cell for cell, own in times.items() if own == number):
            if ranges and ranges[-1][-1] == cell - 1:
                ranges[-1] = [ranges[-1][0], cell]
            else:
                ranges.append([cell])
        packed[str(number)] = ",".join("-".join(map(str, each)) for each in ranges)
    return packed


def _rest_of_block(cells: Sequence[Open], block: Block) -> tuple[int, dict[int, int]]:
    """Return the block to draw from and how often each open cell still stands in it; a used-up block is followed."""
    used = block.drawn or {}
    rest = {cell.number: cell.weight - used.get(cell.number, 0) for cell in cells}
    rest = {cell: times for cell, times in rest.items() if times > 0}
    return (block.number, rest) if rest else (block.number + 1, {cell.number: cell.weight for cell in cells})
