"""Contracts and mediators: how they change a game, and whether they sustain cooperation.

A contract sets a payment for each action: a player who plays the action receives it, in equal parts from the
others. A mediator sets an action for each number of delegators; all delegators then play it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from games.social_dilemma.base_games import TOLERANCE, BaseGame, Profile

Contract = Mapping[int, float]
"""Payment by action number."""
Mediator = Mapping[int, int]
"""Action number by number of delegators."""
Utility = Callable[[Profile], tuple[float, ...]]


@dataclass(frozen=True)
class Quality:
    """Whether cooperation under a design is a Nash equilibrium, and weakly dominant for every seat."""

    nash: bool
    dominant: bool


UNSOUND = Quality(nash=False, dominant=False)


def with_payments(base: BaseGame, contract: Contract, profile: Profile) -> tuple[float, ...]:
    """Return the points of a profile under a contract that all have signed."""
    payments = [contract[action] for action in profile]
    points = base.payoffs[profile]
    total = sum(payments)
    other_seats = base.seats - 1
    return tuple(
        base_points + received - (total - received) / other_seats
        for base_points, received in zip(points, payments, strict=True)
    )


def played_profile(base: BaseGame, mediator: Mediator, choices: Profile) -> Profile:
    """Return the actions played if some seats delegate; each seat's last choice is to delegate."""
    delegators = sum(choice == base.actions[seat] for seat, choice in enumerate(choices))
    return tuple(
        mediator[delegators] if choice == base.actions[seat] else choice for seat, choice in enumerate(choices)
    )


def quality_of_contract(base: BaseGame, contract: Contract) -> Quality:
    """Return whether all-C is an equilibrium, and C weakly dominant, in the game with payments."""
    if base.cooperate is None:
        return UNSOUND
    return _contract_quality(_key(base), base.cooperate, tuple(sorted(contract.items())))


def quality_of_mediator(base: BaseGame, mediator: Mediator) -> Quality:
    """Return the same for delegating, in the game with delegation; `UNSOUND` unless the mediator plays C for all."""
    if base.cooperate is None or any(mediator[base.seats] != action for action in base.cooperate):
        return UNSOUND
    return _mediator_quality(_key(base), base.actions, tuple(sorted(mediator.items())))


_GAMES: dict[tuple[object, ...], BaseGame] = {}


def _key(base: BaseGame) -> tuple[object, ...]:
    """Return a hashable key that identifies the game's payoffs."""
    key = (base.actions, tuple(base.payoffs.values()))
    _GAMES.setdefault(key, base)
    return key


@lru_cache(maxsize=4096)
def _contract_quality(key: tuple[object, ...], chosen: Profile, contract: tuple[tuple[int, float], ...]) -> Quality:
    base, payments = _GAMES[key], dict(contract)
    return _quality(base.actions, chosen, lambda profile: with_payments(base, payments, profile))


@lru_cache(maxsize=4096)
def _mediator_quality(key: tuple[object, ...], chosen: Profile, mediator: tuple[tuple[int, int], ...]) -> Quality:
    base, rule = _GAMES[key], dict(mediator)
    choices = tuple(actions + 1 for actions in base.actions)
    return _quality(choices, chosen, lambda profile: base.payoffs[played_profile(base, rule, profile)])


def _quality(actions: Profile, chosen: Profile, utility: Utility) -> Quality:
    """Return whether the profile `chosen` is a Nash equilibrium, and each of its actions weakly dominant."""
    current = utility(chosen)
    nash = all(
        utility(_with_action(chosen, seat, action))[seat] <= current[seat] + TOLERANCE
        for seat, action in _deviations(actions, chosen)
    )
    dominant = nash and all(
        _dominates(actions, seat, chosen[seat], action, utility) for seat, action in _deviations(actions, chosen)
    )
    return Quality(nash=nash, dominant=dominant)


def _deviations(actions: Profile, chosen: Profile) -> Iterator[tuple[int, int]]:
    for seat, action_count in enumerate(actions):
        for action in range(action_count):
            if action != chosen[seat]:
                yield seat, action


def _dominates(actions: Profile, seat: int, better: int, worse: int, utility: Utility) -> bool:
    """Return whether `better` weakly dominates `worse` for the seat: never worse, and better at least once."""
    gains = [
        utility(_with_action(profile, seat, better))[seat] - utility(_with_action(profile, seat, worse))[seat]
        for profile in product(
            *(range(action_count) if other != seat else (0,) for other, action_count in enumerate(actions))
        )
    ]
    return min(gains) >= -TOLERANCE and max(gains) > TOLERANCE


def _with_action(profile: Profile, seat: int, action: int) -> Profile:
    return (*profile[:seat], action, *profile[seat + 1 :])


def standard_mediator(base: BaseGame, position: int) -> Mediator:
    """Return a mediator that cooperates if all delegate, else plays the uncooperative action.

    Args:
        position: the base game's position, from 0, whose actions the mediator plays: the proposer's.
    """
    cooperate = base.cooperate[position] if base.cooperate is not None else 0
    return {number: cooperate if number == base.seats else base.other[position] for number in range(1, base.seats + 1)}


def standard_contract(base: BaseGame, position: int, bound: int) -> Contract:
    """Return a contract with the smallest whole payment, within the bound, that makes cooperating dominant.

    All payments are 0 if there is no such payment.
    """
    zeros = dict.fromkeys(range(max(base.actions)), 0)
    if base.cooperate is None:
        return zeros
    cooperate = base.cooperate[position]
    for payment in range(bound + 1):
        contract = {**zeros, cooperate: payment}
        if quality_of_contract(base, contract).dominant:
            return contract
    return zeros
