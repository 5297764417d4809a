"""CoopEval: discounted payoffs, and whether a contract or mediator sustains cooperation (sections 3 and 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.social_dilemma.base_games import PUBLISHED, action_names
from games.social_dilemma.designs import quality_of_contract, quality_of_mediator

LETTERS: Mapping[str, str] = {
    "prisoners_dilemma": "CD", "public_goods": "CD", "travelers_dilemma": "2345", "trust": "GK", "stag_hunt": "SH",
}  # fmt: skip
"""The paper's names of the actions A0, A1, … of each base game with a cooperative outcome."""


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
    if game not in LETTERS:
        return {"ns": None, "wd": None, "note": f"{game} has no cooperative outcome to compare with"}
    base = PUBLISHED[game]
    names = (*enumerate(LETTERS[game]), *enumerate(action_names(len(LETTERS[game]))))
    actions = {name: action for action, name in names}
    if contract is None and mediator is not None:
        found = quality_of_mediator(base, {int(number): actions[name] for number, name in mediator.items()})
    else:
        payments = {actions[name]: float(value) for name, value in (contract or {}).items()}
        found = quality_of_contract(base, dict.fromkeys(actions.values(), 0.0) | payments)
    return {"ns": found.nash, "wd": found.dominant}
