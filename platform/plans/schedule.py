"""The match for each number of a collection, computed from the number and never stored.

Repetitions change slowest, then seats and line-ups' rules (which may differ between configurations), then line-ups;
configurations change fastest.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from games.interface import Game, Role
from games.lineups import Lineup, Lineups
from games.words import gettext as _
from plans.collection import CollectionPlan
from plans.reading import BadPlan, Fault

Treatment = tuple[Lineups, Sequence[Role]]
"""The rule of a treatment's line-ups, and its seats."""


@dataclass(frozen=True)
class Slot:
    """One match of a collection.

    Attributes:
        configuration: its index, from 0.
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
    """Treatments with the same seats and rule, by the index of each one's first configuration."""

    rule: Lineups
    roles: tuple[Role, ...]
    treatments: tuple[int, ...]
    lineups: int

    @property
    def matches(self) -> int:
        return len(self.treatments) * self.lineups


class Schedule:
    """All matches of some configurations × line-ups × repetitions.

    Args:
        treatments: each is `cycle` consecutive configurations, used in turn by its repetitions.

    Raises:
        BadLineup: the line-ups do not fit some of the seats.
    """

    def __init__(self, treatments: Sequence[Treatment], *, repetitions: int, cycle: int = 1):
        self._repetitions, self._cycle = repetitions, cycle
        alike: dict[tuple[str, tuple[Role, ...]], list[int]] = {}
        for number, (rule, roles) in enumerate(treatments):
            alike.setdefault((rule.model_dump_json(), tuple(roles)), []).append(number)
        self._blocks = [
            _Block(rule, roles, tuple(number * cycle for number in numbers), rule.count(roles))
            for (_text, roles), numbers in alike.items()
            for rule in [treatments[numbers[0]][0]]
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
            seats=block.rule.at_unchecked(lineup, block.roles, repetition=repetition),
        )

    def matches_of(self, configuration: int) -> int:
        """Return the number of matches of a configuration, given by its index."""
        offset = configuration % self._cycle
        (block,) = [block for block in self._blocks if configuration - offset in block.treatments]
        return block.lineups * len(range(offset, self._repetitions, self._cycle))


def schedule_of(plans: Sequence[CollectionPlan], played: Sequence[Game[Any, Any]]) -> Schedule:
    """Return the matches of a collection, given each configuration's plan and game.

    Raises:
        BadPlan: configurations are the same, or cannot be taken in turn.
        BadLineup: the line-ups do not fit some of the seats.
    """
    cycle = plans[0].cycle
    if len(plans) % cycle:
        what = _("{configurations} configurations cannot be divided into groups of {cycle}.")
        raise BadPlan([Fault("cycle", what.format(configurations=len(plans), cycle=cycle))])
    if len({game.key for game in played}) > 1:
        raise BadPlan([Fault("journey.0.game", _("A collection plays one game."))])
    seats = [game.roles() for game in played]
    for first in range(0, len(seats), cycle):
        if len(set(seats[first : first + cycle])) > 1:
            raise BadPlan([Fault("cycle", _("Configurations that are taken in turn must have the same seats."))])
    if cycle == 1:
        _refuse_same(plans, played)
    treatments = [(plan.lineups, roles) for plan, roles in zip(plans[::cycle], seats[::cycle], strict=True)]
    return Schedule(treatments, repetitions=plans[0].repetitions, cycle=cycle)


def _refuse_same(plans: Sequence[CollectionPlan], played: Sequence[Game[Any, Any]]) -> None:
    seen: dict[str, int] = {}
    for number, (plan, game) in enumerate(zip(plans, played, strict=True), start=1):
        whole = [game.config.model_dump(mode="json"), plan.model_dump(mode="json", include={"agents", "journey"})]
        earlier = seen.setdefault(json.dumps(whole, sort_keys=True), number)
        if earlier != number:
            what = _("Configuration {number} is the same as {earlier}. Use repetitions to play it more often.")
            raise BadPlan([Fault("cells", what.format(number=number, earlier=earlier))])
