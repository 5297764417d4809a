"""The state of a match: rounds played, who meets whom, and the designs that were proposed and chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from games.interface import Role

Stage = Literal["propose", "approve", "sign", "act", "over"]
Groups = tuple[tuple[Role, ...], ...]
"""The seats that play together, each group in order of position."""
Design = Mapping[str, str | int]
"""A proposal as it was made: {"1": "A1", …} by number of delegators, or {"A0": 3, …} by action."""


@dataclass(frozen=True)
class Round:
    """One round: who met whom, the action that each seat's move resulted in, and its points.

    `delegated` lists the seats that delegated to the mediator.
    """

    groups: Groups
    actions: Mapping[Role, int]
    points: Mapping[Role, float]
    delegated: tuple[Role, ...] = ()

    def group(self, role: Role) -> tuple[Role, ...]:
        """Return the members of this role's group, including itself."""
        return next(group for group in self.groups if role in group)


@dataclass(frozen=True)
class Dilemma:
    """The state of a dilemma under one mechanism.

    Attributes:
        groups: those of the current round, or of the last one when the match is over.
        votes: per seat, the numbers of the proposals that it approved.
        winner: the number of the seat whose proposal was chosen.
        signed: per seat, whether it signed the chosen contract.
    """

    stage: Stage
    groups: Groups
    rounds: tuple[Round, ...] = ()
    proposals: Mapping[Role, Design] = field(default_factory=dict)
    votes: Mapping[Role, tuple[int, ...]] = field(default_factory=dict)
    winner: int | None = None
    signed: Mapping[Role, bool] = field(default_factory=dict)

    def group(self, role: Role) -> tuple[Role, ...]:
        """Return the members of this role's current group, including itself."""
        return next(group for group in self.groups if role in group)
