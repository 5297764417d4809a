"""The match for each number of a plan, computed from the number and never stored.

Repetitions change slowest, then seats (which may differ between configurations), then line-ups; configurations
change fastest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from games import registry
from games.interface import Role
from games.lineups import Lineup, Lineups
from games.play import configure


@dataclass(frozen=True)
class Slot:
    """One match of a plan.

    Attributes:
        configuration: its index in the plan's list, from 0.
        lineup: index of the line-up among those for its seats, from 0.
        repetition: from 0.
        seats: an agent's label for every seat.
    """

    configuration: int
    lineup: int
    repetition: int
    seats: Lineup


@dataclass(frozen=True)
class _Block:
    """Treatments with the same seats, by the index of each one's first configuration."""

    roles: tuple[Role, ...]
    treatments: tuple[int, ...]
    lineups: int

    @property
    def matches(self) -> int:
        return len(self.treatments) * self.lineups


class Schedule:
    """All matches of some configurations × line-ups × repetitions.

    Args:
        roles: the seats of each treatment; one entry if all are the same.
        treatments: their number.
        cycle: number of configurations per treatment, used in turn by its repetitions.

    Raises:
        BadLineup: the line-ups do not fit some of the seats.
    """

    def __init__(
        self, lineups: Lineups, roles: Sequence[Sequence[Role]], *, treatments: int, repetitions: int, cycle: int = 1
    ):
        self._lineups, self._repetitions, self._cycle = lineups, repetitions, cycle
        treatments_by_seats: dict[tuple[Role, ...], list[int]] = {}
        for treatment in range(treatments):
            treatments_by_seats.setdefault(tuple(roles[treatment if len(roles) > 1 else 0]), []).append(
                treatment * cycle
            )
        self._blocks = [
            _Block(seats, tuple(treatments), lineups.count(seats)) for seats, treatments in treatments_by_seats.items()
        ]
        self.lineups = max((block.lineups for block in self._blocks), default=0)
        """Maximum number of line-ups per configuration."""
        self._of_repetition = sum(block.matches for block in self._blocks)
        self.total = self._of_repetition * repetitions

    def at(self, index: int) -> Slot:
        """Return the match number `index`, from 0."""
        if not 0 <= index < self.total:
            raise IndexError(index)
        repetition, remainder = divmod(index, self._of_repetition)
        for block in self._blocks:
            if remainder < block.matches:
                break
            remainder -= block.matches
        lineup, treatment = divmod(remainder, len(block.treatments))
        return Slot(
            configuration=block.treatments[treatment] + repetition % self._cycle,
            lineup=lineup,
            repetition=repetition,
            seats=self._lineups.at_unchecked(lineup, block.roles, repetition=repetition),
        )

    def matches_of(self, configuration: int) -> int:
        """Return the number of matches of a configuration, given by its index in the plan's list."""
        offset = configuration % self._cycle
        (block,) = [block for block in self._blocks if configuration - offset in block.treatments]
        return block.lineups * len(range(offset, self._repetitions, self._cycle))


def seats_of(game: str, configurations: Sequence[Mapping[str, Any]], cycle: int) -> list[list[Role]]:
    """Return the seats of each treatment, as a plan stores them: one entry if all are the same.

    Raises:
        BadConfig, ValueError: a treatment's configurations have different seats.
    """
    game_class = registry.get(game)
    seats = [configure(game_class, configuration).roles() for configuration in configurations]
    for treatment in range(0, len(seats), cycle):
        if len(set(seats[treatment : treatment + cycle])) > 1:
            raise ValueError("Configurations of one treatment must have the same seats.")
    first_seats = seats[::cycle]
    return [list(roles) for roles in (first_seats if len(set(first_seats)) > 1 else first_seats[:1])]
