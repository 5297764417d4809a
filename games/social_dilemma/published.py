"""Additional demonstrations of CoopEval's mechanisms; the usual one shows repetition."""

from __future__ import annotations

from collections.abc import Mapping

from games.interface import Json

DEMOS: Mapping[str, Mapping[str, Json]] = {
    "contract": {"mechanism": "contract", "base_game": "public_goods"},
    "reputation": {"mechanism": "reputation_first_order", "rounds": 4, "population": 3},
}
