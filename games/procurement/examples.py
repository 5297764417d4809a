"""Configurations of procurement for the contract tests; every closed period reveals something hidden."""

from __future__ import annotations

from games.examples import Examples, Pair
from games.interface import Json
from games.periods import AGENT
from games.practice import closes_a_period

VISIBLE_PART = {
    "categories": [["A1", "A2"], ["B1"]],
    "offers": [
        {"id": "Offer_1", "contents": {"A1": 2}, "price": 2.5},
        {"id": "Offer_2", "contents": {"A2": 1, "B1": 1}, "price": 7},
        {"id": "Offer_3", "contents": {"B1": 1}, "price": 1.5, "upfront": 5},
    ],
    "budget": 24,
}


def config_with_effectiveness(**effectiveness: int) -> dict[str, Json]:
    """Return a configuration with this hidden effectiveness."""
    return {"instance": {**VISIBLE_PART, "effectiveness": effectiveness}, "periods": 3}


EXAMPLES = Examples(
    configs=(
        {"level": "small", "periods": 6, "practice": True},
        {"level": "medium", "periods": 3, "told": "horizon", "instance_seed": 3},
        {"level": "small", "periods": 4, "told": "horizon_goal"},
    ),
    reveals=closes_a_period,
    pairs=(Pair(AGENT, config_with_effectiveness(A1=1, A2=2, B1=3), config_with_effectiveness(A1=3, A2=1, B1=1)),),
)
