"""Sessions: several matches in one enrolment, and which of them is paid.

A version says it under "session": {matches, order, partners, pays}; a version without it has one match. Other games
stand under "further", each a part that is frozen from a study of its own: {game, configurations, cells, texts,
timers, lobby}.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, lcm
from random import Random
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, Field

from games.interface import Role

if TYPE_CHECKING:
    from studies.models import Cell, Version

MOST_MATCHES = 20
MOST_OTHERS = 3
"""Games beside the study's own that a person can play in one session."""


class Session(BaseModel):
    """How many matches a person plays, and what counts.

    Attributes:
        order: "again": the same configuration each time; "fixed": the study's configurations in their order, or the
            games where there are others; "random": in an order that is drawn. Beyond the last it begins anew.
        partners: "new": people who have played with each other are kept apart as long as others may come.
        pays: "all": the average over the matches; "last": the last one; "random": one that is drawn at the end.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    matches: int = Field(default=1, ge=1, le=MOST_MATCHES)
    order: Literal["again", "fixed", "random"] = "again"
    partners: Literal["new", "any"] = "new"
    pays: Literal["all", "last", "random"] = "all"


def session_of(content: Mapping[str, Any]) -> Session:
    """The session of a version's content."""
    return Session.model_validate(content.get("session", {}))


def begins_in(cells: Sequence[Cell], session: Session, *, others: bool = False) -> list[Cell]:
    """The cells in which somebody may begin: with a fixed order of configurations, those of the first.

    Args:
        others: whether it is other games whose order is fixed.
    """
    if session.matches == 1 or session.order != "fixed" or others:
        return list(cells)
    first = min((cell.configuration for cell in cells), default=0)
    return [cell for cell in cells if cell.configuration == first]


def cells_of_session(version: Version, first: Cell, session: Session, *, seed: str) -> list[Cell]:
    """The cells in which somebody who begins in `first` plays, match by match.

    Args:
        seed: of a random order; people with the same seed play in the same order.
    """
    if session.matches == 1 or session.order == "again":
        return [first] * session.matches
    cells = version.cells.order_by("number") if version.pk else version.planned_cells()
    _first, *others = _in_order(cells, first)
    if session.order == "random":
        Random(f"{version.seed}/{seed}/order").shuffle(others)
    sequence = [first, *others]
    return [sequence[number % len(sequence)] for number in range(session.matches)]


def leading_to(version: Version, cells: Sequence[Cell]) -> dict[int, list[Cell]]:
    """By the number of each of the version's cells, those that people begin in whose sessions lead through it.

    Whoever is placed in a cell stands for every match of the session. In a fixed order all begin in the first
    configuration; a cell that no session reaches is led to by none. Any other order may begin everywhere.
    """
    session = session_of(version.content)
    if session.matches == 1 or session.order != "fixed" or "further" in version.content:
        return {cell.number: [cell] for cell in cells}
    found: dict[int, list[Cell]] = {cell.number: [] for cell in cells}
    for first in begins_in(cells, session):
        for cell in dict.fromkeys(one.number for one in _in_order(cells, first)[: session.matches]):
            found[cell].append(first)
    return found


def _in_order(cells: Sequence[Cell], first: Cell) -> list[Cell]:
    """The cells that a session leads through from `first`, in the order of the configurations."""
    like = [cell for cell in cells if cell.people == first.people and cell.number != first.number]
    return [first, *(cell for cell in like if cell.lineup == first.lineup)]


def begins_here(quota: int, matches: int, alike: int) -> int:
    """How many groups begin in a cell so that `quota` of them play in it, in sessions of random order.

    Args:
        matches: of a session.
        alike: cells through which a session may lead, this one included.
    """
    return ceil(quota / max(1, min(matches, alike)))


@dataclass(frozen=True)
class Leg:
    """One match of a session.

    Attributes:
        part: of the version's content: {game, configurations, texts, timers, lobby}; the whole of it for its own game.
        cell: in which it is played; of another game one that is not saved.
        key: what the cell is called in seeds and in the pools of the lobby.
    """

    part: Mapping[str, Any]
    cell: Cell
    role: Role
    key: str

    @property
    def own(self) -> bool:
        """Whether it is the study's own game."""
        return self.key.isdigit()

    @property
    def config(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.part["configurations"][self.cell.configuration]
        return found

    def same_rules(self, other: Leg) -> bool:
        """Whether somebody who has read the rules of the other knows them."""
        return self.part is other.part and self.cell.configuration == other.cell.configuration


def legs_of(version: Version, first: Cell, role: Role, *, number: int) -> list[Leg]:
    """The matches of somebody's session, in order.

    People who arrive one after the other play the same games in the same order, so that they can meet: as many as
    make up whole groups in each game, and with new partners as many again as a group has.

    Args:
        role: the seat kept for them in `first`.
        number: which of the cell's people this is, from 1.
    """
    content = version.content
    session = session_of(content)
    if "further" not in content:
        seed = str(number) if first.group_size == 1 else f"cell {first.number}"
        cells = cells_of_session(version, first, session, seed=seed)
        return [Leg(content, cell, role, str(cell.number)) for cell in cells]
    others = [version.cells_of_part(part) for part in content["further"]]
    sizes = {first.group_size, *(cell.group_size for cells in others for cell in cells)}
    together = lcm(*sizes) * (max(sizes) if session.partners == "new" else 1)
    block, place = divmod(number - 1, together)
    legs = [Leg(content, first, role, str(first.number))]
    for game, (part, cells) in enumerate(zip(content["further"], others, strict=True), start=2):
        cell = cells[block % len(cells)]
        legs.append(Leg(part, cell, cell.people[place % len(cell.people)], f"game {game} cell {cell.number}"))
    if session.order == "random":
        Random(f"{version.seed}/{first.number}/{block}/order").shuffle(legs)
    return [legs[match % len(legs)] for match in range(session.matches)]


Result = tuple[int, float, float]
"""(number of the match from 1, payoff, share g)."""


def counted(results: Sequence[Result], session: Session, *, seed: int) -> tuple[float | None, float | None, list[int]]:
    """The payoff and share that the bonus is computed from, and the numbers of the matches that count.

    Args:
        results: of the finished matches.
        seed: from which the draw follows that chooses one.
    """
    if not results:
        return None, None, []
    chosen = {
        "all": list(results),
        "last": [results[-1]],
        "random": [Random(f"{seed}/paid").choice(list(results))],
    }[session.pays]
    return fmean(one[1] for one in chosen), fmean(one[2] for one in chosen), [one[0] for one in chosen]


def promise(session: Session, *, others: bool = False) -> str:
    """What the instructions say of a session and its pay; empty for one match.

    Args:
        others: whether other games are among them.
    """
    if session.matches == 1:
        return ""
    pays = {
        "all": _("The bonus is computed from the average over your games."),
        "last": _("The bonus is computed from your last game alone."),
        "random": _("The bonus is computed from one of your games, which is drawn at random at the end."),
    }[session.pays]
    says = _("You play {number} games. {pays}").format(number=session.matches, pays=pays)
    if not others:
        return says
    return _("{says} They are not all the same: the rules of each are told before it begins.").format(says=says)
