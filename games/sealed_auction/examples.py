"""Configurations of the sealed auction for the contract tests, and when a bidder learns the others' values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from games.examples import Examples, Pair
from games.interface import Role


def reveals(game: Any, before: Any, moves: Mapping[Role, Any], after: Any, role: Role) -> bool:
    """Return whether a run ended whose history shows everybody's values."""
    return bool(game.reveals_values and game.visible(after))


SHOWN_LATER = {"players": 3, "runs": 3, "history_depth": 1, "history_reveals": "bids_and_values"}

EXAMPLES = Examples(
    configs=(
        {"players": 3, "runs": 5, "history_depth": 3},
        {"runs": 3, "history_depth": 1, "history_reveals": "bids_and_values", "told_of_others": "similar"},
        {"runs": 2, "history_reveals": "bids_and_values", "players": 2},
        {"price_rule": "first", "players": 3, "told_of_others": "rational"},
        {"players": 3, "assets": 100, "values": [80, 65, 20], "foul_fee": 5, "runs": 2, "fouls": "refuse"},
        {"players": 4, "assets": 10000, "value_mean": 5000, "value_sd": 1000, "people_may_foul": True},
    ),
    reveals=reveals,
    pairs=(Pair("p1", {**SHOWN_LATER, "values": [500, 600, 400]}, {**SHOWN_LATER, "values": [500, 100, 900]}),),
)
