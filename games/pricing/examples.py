"""Configurations of pricing for the contract tests; the advice and every closed period reveal market data."""

from __future__ import annotations

from games.examples import Examples, Pair
from games.interface import Json
from games.periods import AGENT
from games.practice import closes_a_period


def config_with_demand(quality: float, start: float, **market: float) -> dict[str, Json]:
    """Return a configuration with this hidden demand; comparisons leave out the advice, which depends on it."""
    product = {"id": "Product_1", "cost": 1.5, "quality": quality, "alpha": {"start": start, "slope": start / 100}}
    return {"instance": {"products": [product], **market}, "periods": 3}


EXAMPLES = Examples(
    configs=(
        {"periods": 4, "level": "medium", "pattern": "periodic"},
        {"periods": 5, "scored_periods": 2, "instance_seed": 3, "practice": True},
        {"periods": 3, "level": "hard", "pattern": "constant", "cost_high": 10},
    ),
    reveals=closes_a_period,
    reveals_secrets=True,
    pairs=(Pair(AGENT, config_with_demand(2.5, 4.0), config_with_demand(2.9, 7.0, sigma=0.2, market=70, season=12)),),
    discloses=frozenset({"situation", "advised"}),
)
