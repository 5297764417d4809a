"""The social dilemma's examples for the contract tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.examples import Examples
from games.interface import Role

CUSTOM = {
    "actions": [2, 3],
    "payoffs": {"0,0": [4, 4], "0,1": [0, 5], "0,2": [1, 1], "1,0": [5, 0], "1,1": [2, 2], "1,2": [0, 0]},
    "cooperate": [0, 0],
    "other": [1, 1],
    "reference": {"nash": 2, "cooperative": 4},
}


def reveals(game: Any, before: Any, moves: Mapping[Role, Any], after: Any, role: Role) -> bool:
    """Return whether a new round shows the role whom it meets."""
    return len(after.rounds) > len(before.rounds)


EXAMPLES = Examples(
    configs=(
        {"mechanism": "repetition", "rounds": 4, "base_game": "travelers_dilemma", "history_depth": 1},
        {"mechanism": "repetition", "rounds": 5, "stopping": "drawn", "stop_after": 3},
        {"mechanism": "reputation_first_order", "rounds": 4, "base_game": "public_goods", "population": 2},
        {"mechanism": "reputation_higher_order", "rounds": 5, "matching": "rotation", "stopping": "published"},
        {"mechanism": "mediation", "base_game": "public_goods", "answer_with": "percentages", "framing": "words"},
        {"mechanism": "contract", "base_game": "stag_hunt", "answer_with": "action", "action_names": ["Stag", "Hare"]},
        {"mechanism": "contract", "base_game": "custom", "custom_game": CUSTOM, "contract_bound": 3},
        {"base_game": "matching_pennies", "mechanism": "repetition", "rounds": 3, "history_depth": 0},
    ),
    alternatives={"stop_after": (1, 2, 3, 4), "rounds": (3, 6, 7)},
    reveals=reveals,
)
