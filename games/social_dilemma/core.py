"""What follows from the parameters of a social dilemma and its state."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import floor

from games.interface import Role
from games.seats import EqualSeats, number_of
from games.social_dilemma import moves
from games.social_dilemma.base_games import BaseGame, action_names
from games.social_dilemma.config import REPEATED, REPUTATION, DilemmaConfig
from games.social_dilemma.designs import UNSOUND, Contract, Mediator, Quality, quality_of_contract, quality_of_mediator
from games.social_dilemma.state import Design, Dilemma
from games.words import gettext as _

UNBOUNDED = 1_000_000
"""The largest payment in a contract where the publication has no bound; players are not told it."""


def as_mediator(design: Design) -> Mediator:
    """Return a proposed mediator: action number by number of delegators."""
    return {int(number): int(str(action)[1:]) for number, action in design.items()}


def as_contract(design: Design) -> Contract:
    """Return a proposed contract: payment by action number."""
    return {int(action[1:]): int(payment) for action, payment in design.items()}


class SocialDilemmaCore(EqualSeats[DilemmaConfig, Dilemma]):
    """What scripts and views ask of the game, besides the rules of all games of equal seats."""

    @cached_property
    def base(self) -> BaseGame:
        """Return the base game in normal form."""
        return self.config.base()

    @property
    def mechanism(self) -> str:
        return self.config.mechanism

    @property
    def repeated(self) -> bool:
        return self.mechanism in REPEATED

    @property
    def in_population(self) -> bool:
        """Return whether seats meet different seats in every round."""
        return self.mechanism in REPUTATION

    def position(self, role: Role) -> int:
        """Return the role's position in the base game, from 0."""
        return (number_of(role) - 1) % self.base.seats

    def actions(self, role: Role) -> tuple[str, ...]:
        """Return the names of the role's actions."""
        return self.base.names(self.position(role))

    @property
    def all_actions(self) -> tuple[str, ...]:
        """Return the names of all roles' actions."""
        return action_names(max(self.base.actions))

    def label(self, action: str) -> str:
        """Return the name of an action, or of delegating, as shown to players; moves keep the original name."""
        if action == moves.DELEGATE:
            return _("delegate")
        return self.config.labels(len(self.all_actions))[int(action[1:])]

    def labels(self, actions: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self.label, actions))

    @property
    def contract_bound(self) -> int:
        """Return the largest payment that a contract can contain."""
        if self.config.contract_bound is not None:
            return self.config.contract_bound
        if self.config.source == "program":
            return UNBOUNDED
        return max(1, floor(self.base.largest()))

    def last_round(self) -> int:
        """Return the maximum number of rounds."""
        return self.config.rounds if self.repeated else 1

    def weights(self, rounds: int) -> list[float]:
        """Return the weight of each round: (1-δ)δ^t, δ^(T-1) for the last; if drawn, only the last round counts."""
        if self.repeated and self.config.stopping == "drawn":
            return [*[0.0] * (rounds - 1), 1.0]
        delta = self.config.continuation
        return [(1 - delta) * delta**t for t in range(rounds - 1)] + [delta ** (rounds - 1)]

    def choices(self, role: Role) -> tuple[str, ...]:
        """Return what a seat can choose when it acts."""
        return (*self.actions(role), moves.DELEGATE) if self.mechanism == "mediation" else self.actions(role)

    def design_of(self, state: Dilemma, number: int) -> Design:
        """Return the proposal of seat `number`."""
        return state.proposals[f"p{number}"]

    def mediator(self, state: Dilemma) -> Mediator:
        """Return the chosen mediator."""
        assert state.winner is not None
        return as_mediator(self.design_of(state, state.winner))

    def contract(self, state: Dilemma) -> Contract:
        """Return the chosen contract."""
        assert state.winner is not None
        return as_contract(self.design_of(state, state.winner))

    def contract_active(self, state: Dilemma) -> bool:
        """Return whether everybody signed the chosen contract."""
        return bool(state.signed) and all(state.signed.values())

    def quality(self, design: Design) -> Quality:
        """Return whether a proposal makes cooperation an equilibrium."""
        if self.mechanism == "mediation":
            return quality_of_mediator(self.base, as_mediator(design))
        if self.mechanism == "contract":
            return quality_of_contract(self.base, as_contract(design))
        return UNSOUND
