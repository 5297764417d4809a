"""Where a match stands: rounds played, who meets whom, and the designs that were proposed and chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from games.interface import Role

Stage = Literal["propose", "approve", "sign", "act", "over"]
Groups = tuple[tuple[Role, ...], ...]
"""Who plays together, each group in order of position."""
Design = Mapping[str, str | int]
"""A proposal as it was made: {"1": "A1", …} by number of delegators, or {"A0": 3, …} by action."""


@dataclass(frozen=True)
class Round:
    """One round: who met whom, the action that each seat's move came to, and its points.

    `delegated` names those who let the mediator act.
    """

    groups: Groups
    actions: Mapping[Role, int]
    points: Mapping[Role, float]
    delegated: tuple[Role, ...] = ()

    def group(self, role: Role) -> tuple[Role, ...]:
        """Who played together with this role, itself included."""
        return next(group for group in self.groups if role in group)


@dataclass(frozen=True)
class Dilemma:
    """A match of a dilemma under one mechanism.

    Attributes:
        groups: of the round that is being played; of the last one when the match is over.
        votes: per seat, the numbers of the proposals it approved.
        winner: number of the seat whose proposal was chosen.
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
        """Whom this role plays with now, itself included."""
        return next(group for group in self.groups if role in group)
