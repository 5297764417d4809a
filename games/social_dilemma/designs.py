"""Contracts and mediators: what they make of a game, and whether they make cooperation hold.

A contract names one payment per action: playing the action gives its player that much, paid in equal parts by
the others. A mediator names one action for every number of delegators, which all of them then play.
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
    """Whether cooperation is a Nash equilibrium under a design, and weakly dominant for everybody."""

    nash: bool
    dominant: bool


UNSOUND = Quality(nash=False, dominant=False)


def with_payments(base: BaseGame, contract: Contract, profile: Profile) -> tuple[float, ...]:
    """The points of a profile under a contract that all have signed."""
    paid = [contract[action] for action in profile]
    points = base.payoffs[profile]
    total = sum(paid)
    others = base.seats - 1
    return tuple(own + gets - (total - gets) / others for own, gets in zip(points, paid, strict=True))


def resolved(base: BaseGame, mediator: Mediator, choices: Profile) -> Profile:
    """The actions that are played when some seats delegate; delegating is each seat's last choice."""
    delegators = sum(choice == base.actions[seat] for seat, choice in enumerate(choices))
    return tuple(
        mediator[delegators] if choice == base.actions[seat] else choice for seat, choice in enumerate(choices)
    )


def quality_of_contract(base: BaseGame, contract: Contract) -> Quality:
    """Whether all-C is an equilibrium, and C dominant, in the game with payments."""
    if base.cooperate is None:
        return UNSOUND
    return _contract_quality(_key(base), base.cooperate, tuple(sorted(contract.items())))


def quality_of_mediator(base: BaseGame, mediator: Mediator) -> Quality:
    """The same of delegating, in the game with delegation; not so unless the mediator plays C for all."""
    if base.cooperate is None or any(mediator[base.seats] != action for action in base.cooperate):
        return UNSOUND
    return _mediator_quality(_key(base), base.actions, tuple(sorted(mediator.items())))


_KNOWN: dict[tuple[object, ...], BaseGame] = {}


def _key(base: BaseGame) -> tuple[object, ...]:
    """What identifies the game's payoffs, hashable."""
    key = (base.actions, tuple(base.payoffs.values()))
    _KNOWN.setdefault(key, base)
    return key


@lru_cache(maxsize=4096)
def _contract_quality(key: tuple[object, ...], chosen: Profile, contract: tuple[tuple[int, float], ...]) -> Quality:
    base, payments = _KNOWN[key], dict(contract)
    return _quality(base.actions, chosen, lambda profile: with_payments(base, payments, profile))


@lru_cache(maxsize=4096)
def _mediator_quality(key: tuple[object, ...], chosen: Profile, mediator: tuple[tuple[int, int], ...]) -> Quality:
    base, rule = _KNOWN[key], dict(mediator)
    choices = tuple(actions + 1 for actions in base.actions)
    return _quality(choices, chosen, lambda profile: base.payoffs[resolved(base, rule, profile)])


def _quality(actions: Profile, chosen: Profile, utility: Utility) -> Quality:
    """Whether the profile `chosen` is a Nash equilibrium, and each part of it weakly dominant."""
    at_rest = utility(chosen)
    nash = all(
        utility(_with(chosen, seat, action))[seat] <= at_rest[seat] + TOLERANCE
        for seat, action in _deviations(actions, chosen)
    )
    dominant = nash and all(
        _dominates(actions, seat, chosen[seat], action, utility) for seat, action in _deviations(actions, chosen)
    )
    return Quality(nash=nash, dominant=dominant)


def _deviations(actions: Profile, chosen: Profile) -> Iterator[tuple[int, int]]:
    for seat, most in enumerate(actions):
        for action in range(most):
            if action != chosen[seat]:
                yield seat, action


def _dominates(actions: Profile, seat: int, better: int, worse: int, utility: Utility) -> bool:
    """Whether `better` is never worse for the seat than `worse`, and better at least once."""
    gains = [
        utility(_with(profile, seat, better))[seat] - utility(_with(profile, seat, worse))[seat]
        for profile in product(*(range(most) if other != seat else (0,) for other, most in enumerate(actions)))
    ]
    return min(gains) >= -TOLERANCE and max(gains) > TOLERANCE


def _with(profile: Profile, seat: int, action: int) -> Profile:
    return (*profile[:seat], action, *profile[seat + 1 :])


def standard_mediator(base: BaseGame, position: int) -> Mediator:
    """Cooperate where all delegate, else not, by the actions of the position (from 0) that proposes it."""
    cooperate = base.cooperate[position] if base.cooperate is not None else 0
    return {number: cooperate if number == base.seats else base.other[position] for number in range(1, base.seats + 1)}


def standard_contract(base: BaseGame, position: int, bound: int) -> Contract:
    """The smallest whole payment for cooperating, within the bound, that makes it dominant; all 0 without one."""
    zeros = dict.fromkeys(range(max(base.actions)), 0)
    if base.cooperate is None:
        return zeros
    cooperate = base.cooperate[position]
    for payment in range(bound + 1):
        contract = {**zeros, cooperate: payment}
        if quality_of_contract(base, contract).dominant:
            return contract
    return zeros
