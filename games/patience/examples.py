"""Configurations of patience for the contract tests; each question reveals more of the order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.examples import Examples
from games.interface import Role


def reveals(game: Any, before: Any, moves: Mapping[Role, Any], after: Any, role: Role) -> bool:
    """Return True, since every step reveals the next question."""
    return True


EXAMPLES = Examples(
    configs=(
        {"amounts": [101, 105, 110.5]},
        {"horizon": "5 years", "amounts": [120, 140], "repetitions": 4, "order": "ascending"},
        {"horizon": "1 month", "amounts": [100.5, 101]},
    ),
    reveals=reveals,
    discloses=frozenset({"options"}),
)
