"""Sessions: several matches for one participant, and which of them is paid.

A version describes it under "session": {matches, order, partners, pays}; without it, a version has one match. Other
games are under "further", each a part frozen from a study of its own: {game, configurations, cells, texts, timers,
lobby}.
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
    from studies.design import PlannedCell
    from studies.models import Cell, Version

MAX_MATCHES = 20
MAX_OTHERS = 3
"""Maximum number of other games in one session."""


class Session(BaseModel):
    """How many matches a participant plays, and which count.

    Attributes:
        order: "again": the same configuration each time; "fixed": the study's configurations (or its games) in order;
            "random": in an order drawn for the session. After the last one, the order starts over.
        partners: "new": people who have played together are kept apart as long as others may arrive.
        pays: "all": the average of the matches; "last": the last one; "random": one drawn at the end.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    matches: int = Field(default=1, ge=1, le=MAX_MATCHES)
    order: Literal["again", "fixed", "random"] = "again"
    partners: Literal["new", "any"] = "new"
    pays: Literal["all", "last", "random"] = "all"


def session_of(content: Mapping[str, Any]) -> Session:
    """Return the session of a version's content."""
    return Session.model_validate(content.get("session", {}))


def starting_cells(cells: Sequence[Cell], session: Session, *, has_other_games: bool = False) -> list[Cell]:
    """Return the cells in which participants may begin: with a fixed order, those of the first configuration.

    Args:
        has_other_games: whether the fixed order is one of games instead of configurations.
    """
    if session.matches == 1 or session.order != "fixed" or has_other_games:
        return list(cells)
    first = min((cell.configuration for cell in cells), default=0)
    return [cell for cell in cells if cell.configuration == first]


def cells_of_session(version: Version, first: Cell, session: Session, *, seed: str) -> list[Cell]:
    """Return the cells, match by match, for a participant who begins in `first`.

    Args:
        seed: determines a random order: participants with the same value play in the same order.
    """
    if session.matches == 1 or session.order == "again":
        return [first] * session.matches
    cells = version.cells.order_by("number") if version.pk else version.planned_cells()
    _first, *others = _in_order(cells, first)
    if session.order == "random":
        Random(f"{version.seed}/{seed}/order").shuffle(others)
    sequence = [first, *others]
    return [sequence[number % len(sequence)] for number in range(session.matches)]


def entry_cells(version: Version, cells: Sequence[Cell]) -> dict[int, list[Cell]]:
    """Return, by each cell's number, the cells that participants begin in and whose sessions lead through it.

    A placement counts for every match of its session. In a fixed order, all begin in the first configuration, and
    a cell that no session reaches gets an empty list. In any other order, sessions may begin in every cell.
    """
    session = session_of(version.content)
    if session.matches == 1 or session.order != "fixed" or "further" in version.content:
        return {cell.number: [cell] for cell in cells}
    entries: dict[int, list[Cell]] = {cell.number: [] for cell in cells}
    for first in starting_cells(cells, session):
        for cell in dict.fromkeys(item.number for item in _in_order(cells, first)[: session.matches]):
            entries[cell].append(first)
    return entries


def _in_order(cells: Sequence[Cell], first: Cell) -> list[Cell]:
    """Return the cells that a session from `first` leads through, in the order of the configurations."""
    similar = [cell for cell in cells if cell.people == first.people and cell.number != first.number]
    return [first, *(cell for cell in similar if cell.lineup == first.lineup)]


def unreached_configurations(cells: Sequence[PlannedCell], session: Session) -> int:
    """Return how many configurations no session reaches: in a fixed order, those beyond a session's matches.

    Args:
        cells: of a study without other games, ordered by configuration.
    """
    if session.matches == 1 or session.order != "fixed":
        return 0
    first = cells[0].config if cells else None
    sequences: dict[tuple[str, ...], list[PlannedCell]] = {}
    for cell in cells:
        sequences.setdefault((cell.lineup, *cell.people), []).append(cell)
    played_cells = [cells[: session.matches] for cells in sequences.values() if cells[0].config is first]
    reached = {id(cell.config) for cells in played_cells for cell in cells}
    return len({id(cell.config) for cell in cells} - reached)


def groups_starting(quota: int, matches: int, alike: int) -> int:
    """Return how many groups must begin in a cell so that `quota` groups play in it, with random order.

    Args:
        matches: per session.
        alike: number of cells a session may lead through, including this one.
    """
    return ceil(quota / max(1, min(matches, alike)))


@dataclass(frozen=True)
class Leg:
    """One match of a session.

    Attributes:
        part: of the version's content: {game, configurations, texts, timers, lobby}; all of it for its own game.
        cell: the cell it is played in; unsaved for another game.
        key: the cell's name in seeds and in the lobby's pools.
    """

    part: Mapping[str, Any]
    cell: Cell
    role: Role
    key: str

    @property
    def plays_own_game(self) -> bool:
        """Whether this match plays the study's own game."""
        return self.key.isdigit()

    @property
    def config(self) -> Mapping[str, Any]:
        config: Mapping[str, Any] = self.part["configurations"][self.cell.configuration]
        return config

    def same_rules(self, other: Leg) -> bool:
        """Return whether its rules are the same as the other match's."""
        return self.part is other.part and self.cell.configuration == other.cell.configuration


def legs_of(version: Version, first: Cell, role: Role, *, number: int, together: str = "") -> list[Leg]:
    """Return the matches of a participant's session in order.

    Consecutive arrivals play the same games in the same order, so that they can meet: as many as form whole groups in
    each game and, with new partners, another group's worth.

    Args:
        role: the participant's seat in `first`.
        number: the participant's number within the cell, from 1, among those of the same `together`.
        together: the same text for those who may meet; others are numbered separately, and draw other orders.
    """
    content = version.content
    session = session_of(content)
    if "further" not in content:
        seed = f"{number}/{together}".rstrip("/") if first.group_size == 1 else f"cell {first.number}"
        cells = cells_of_session(version, first, session, seed=seed)
        return [Leg(content, cell, role, str(cell.number)) for cell in cells]
    other_cells = [version.cells_of_part(part) for part in content["further"]]
    sizes = {first.group_size, *(cell.group_size for cells in other_cells for cell in cells)}
    block_size = lcm(*sizes) * (max(sizes) if session.partners == "new" else 1)
    block, index = divmod(number - 1, block_size)
    block += Random(together).randrange(2**31) if together else 0
    legs = [Leg(content, first, role, str(first.number))]
    for game, (part, cells) in enumerate(zip(content["further"], other_cells, strict=True), start=2):
        cell = cells[block % len(cells)]
        legs.append(Leg(part, cell, cell.people[index % len(cell.people)], f"game {game} cell {cell.number}"))
    if session.order == "random":
        Random(f"{version.seed}/{first.number}/{block}/order").shuffle(legs)
    return [legs[match % len(legs)] for match in range(session.matches)]


Result = tuple[int, float, float]
"""(number of the match from 1, payoff, share g)."""


def counted_matches(
    results: Sequence[Result], session: Session, *, seed: int
) -> tuple[float | None, float | None, list[int]]:
    """Return the payoff and share that the bonus is computed from, and the numbers of the matches that count.

    Args:
        results: of the finished matches.
        seed: determines which match is drawn.
    """
    if not results:
        return None, None, []
    counted = {
        "all": list(results),
        "last": [results[-1]],
        "random": [Random(f"{seed}/paid").choice(list(results))],
    }[session.pays]
    return (
        fmean(result[1] for result in counted),
        fmean(result[2] for result in counted),
        [result[0] for result in counted],
    )


def session_promise(session: Session, *, has_other_games: bool = False) -> str:
    """Return what the instructions say about a session and its pay; empty for one match.

    Args:
        has_other_games: whether other games are among the matches.
    """
    if session.matches == 1:
        return ""
    pay_sentence = {
        "all": _("The bonus is computed from the average of your games."),
        "last": _("The bonus is computed from your last game only."),
        "random": _("The bonus is computed from one of your games, drawn at random at the end."),
    }[session.pays]
    text = _("You play {number} games. {pays}").format(number=session.matches, pays=pay_sentence)
    if not has_other_games:
        return text
    return _("{says} They are not all the same. You will read the rules of each game before it begins.").format(
        says=text
    )
