"""Configurations of persuasion for the contract tests, and when a buyer learns what was hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.examples import Examples, Pair
from games.interface import Role
from games.persuasion.roles import BUYER, SELLER


def reveals(game: Any, before: Any, moves: Mapping[Role, Any], after: Any, role: Role) -> bool:
    """Return whether a step reveals a quality.

    The seller then sees the next product. The buyer's purchase reveals it, any decision if it is always revealed.
    """
    decision = getattr(moves.get(BUYER), "decision", None)
    if role != BUYER or decision is None:
        return decision is not None
    always_shown = game.config.reveal_quality == "always" and game.remembers(role)
    return decision == "yes" or bool(always_shown)


def of_qualities(*qualities: str) -> dict[str, Any]:
    return {"rounds": 4, "reveal_quality": "if_bought", "qualities": list(qualities)}


EXAMPLES = Examples(
    configs=(
        {"message_type": "binary", "rounds": 6},
        {"buyer_type": "myopic", "prior": 0.8, "rounds": 8},
        {"buyer_type": "myopic", "message_type": "binary", "complete_information": False, "rounds": None, "cap": 7},
        {"complete_information": False, "high_value": 3, "rounds": 5},
        {"reveal_quality": "if_bought", "rounds": 9, "low_value": 0.25},
        {"reveal_quality": "if_bought", "buyer_type": "myopic", "rounds": 6},
        {"rounds": None, "cap": 5, "complete_information": False},
        {"rounds": 4, "qualities": ["high", "low", "low", "high"]},
        {"rounds": 1, "prior": 1 / 3, "price": 100},
        {"rounds": 3, "prior": 1},
        {"rounds": 3, "prior": 0},
    ),
    alternatives={"high_value": (1.2, 2, 4), "low_value": (0, 0.1, 0.5)},
    reveals=reveals,
    pairs=(
        Pair(BUYER, of_qualities(*["high"] * 4), of_qualities(*["low"] * 4)),
        Pair(SELLER, of_qualities("low", "high", "high", "low"), of_qualities("low", "low", "low", "high")),
    ),
)
