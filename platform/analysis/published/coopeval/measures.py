"""CoopEval: discounted payoffs, and whether a contract or mediator sustains cooperation (sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

TOLERANCE = 1e-9
Profile = tuple[str, ...]


@dataclass(frozen=True)
class BaseGame:
    """A published base game, with letters as actions.

    Attributes:
        actions: the letters of A0, A1, …, in that order; the same for every seat.
        cooperate: the cooperative action.
        points: function that returns every seat's points in a profile.
    """

    seats: int
    actions: tuple[str, ...]
    cooperate: str
    points: Callable[[Profile], tuple[float, ...]]


def _table(table: Mapping[str, tuple[float, float]]) -> Callable[[Profile], tuple[float, ...]]:
    return lambda profile: table["".join(profile)]


def _public_goods(profile: Profile) -> tuple[float, ...]:
    shared = 1.5 * profile.count("C") / 3
    return tuple(shared + (action == "D") for action in profile)


def _travelers(profile: Profile) -> tuple[float, ...]:
    first, second = (int(claim) for claim in profile)
    if first == second:
        return (float(first), float(second))
    low = min(first, second)
    return (low + 2.0, low - 2.0) if first < second else (low - 2.0, low + 2.0)


GAMES: Mapping[str, BaseGame] = {
    "prisoners_dilemma": BaseGame(2, ("C", "D"), "C", _table({"CC": (2, 2), "CD": (0, 3), "DC": (3, 0), "DD": (1, 1)})),
    "public_goods": BaseGame(3, ("C", "D"), "C", _public_goods),
    "travelers_dilemma": BaseGame(2, ("2", "3", "4", "5"), "5", _travelers),
    "trust": BaseGame(2, ("G", "K"), "G", _table({"GG": (10, 10), "GK": (0, 20), "KG": (6, 2), "KK": (4, 4)})),
    "stag_hunt": BaseGame(2, ("S", "H"), "S", _table({"SS": (5, 5), "SH": (0, 3), "HS": (3, 0), "HH": (3, 3)})),
}
CODES = {f"A{number}": number for number in range(10)}


def discounted(payoffs: Sequence[float], delta: float) -> float | None:
    """Return Σ w_t·payoff_t, with w_t = (1-δ)δ^t but δ^(T-1) for the last round; None without rounds."""
    if not payoffs:
        return None
    last = len(payoffs) - 1
    return sum((1 - delta) * delta**t * points for t, points in enumerate(payoffs[:last])) + delta**last * payoffs[last]


def design_quality(
    game: str, contract: Mapping[str, float] | None = None, mediator: Mapping[Any, str] | None = None
) -> dict[str, Any]:
    """Return whether cooperation is an equilibrium (ns) and weakly dominant for all (wd) under a contract or mediator.

    Args:
        game: key of a published base game.
        contract: payment for each action, by letter (or A0, A1, …); missing actions earn 0.
        mediator: the action played for delegators, by the number of delegators.
    """
    if game not in GAMES:
        return {"ns": None, "wd": None, "note": f"{game} has no cooperative outcome to compare with"}
    base = GAMES[game]
    if contract is not None:
        payments = {_letter(base, action): float(value) for action, value in contract.items()}

        def with_payments(profile: Profile) -> tuple[float, ...]:
            received = [payments.get(action, 0.0) for action in profile]
            return tuple(
                points + payment - (sum(received) - payment) / (base.seats - 1)
                for points, payment in zip(base.points(profile), received, strict=True)
            )

        return _quality(base, base.actions, base.cooperate, with_payments)
    if mediator is None:
        return _quality(base, base.actions, base.cooperate, base.points)
    rule = {int(number): _letter(base, action) for number, action in mediator.items()}
    if rule.get(base.seats) != base.cooperate:
        return {"ns": False, "wd": False}

    def resolved(profile: Profile) -> tuple[float, ...]:
        delegators = profile.count("delegate")
        return base.points(tuple(rule[delegators] if action == "delegate" else action for action in profile))

    return _quality(base, (*base.actions, "delegate"), "delegate", resolved)


def _letter(base: BaseGame, action: str) -> str:
    return base.actions[CODES[action]] if action in CODES and action not in base.actions else action


def _quality(
    base: BaseGame, actions: Sequence[str], target: str, points: Callable[[Profile], tuple[float, ...]]
) -> dict[str, Any]:
    at_target = points((target,) * base.seats)
    nash, dominant = True, True
    for seat in range(base.seats):
        for action in actions:
            if action == target:
                continue
            gains = []
            for others in product(actions, repeat=base.seats - 1):
                with_target = (*others[:seat], target, *others[seat:])
                with_action = (*others[:seat], action, *others[seat:])
                gains.append(points(with_target)[seat] - points(with_action)[seat])
            deviation = (target,) * seat + (action,) + (target,) * (base.seats - seat - 1)
            nash = nash and points(deviation)[seat] <= at_target[seat] + TOLERANCE
            dominant = dominant and min(gains) >= -TOLERANCE and max(gains) > TOLERANCE
    return {"ns": nash, "wd": dominant}
