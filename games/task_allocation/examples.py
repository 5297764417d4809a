"""Configurations of task allocation for the contract tests; every closed period reveals part of the productivities."""

from __future__ import annotations

from games.examples import Examples, Pair
from games.interface import Json
from games.periods import AGENT
from games.practice import closes_a_period


def config_with_productivities(w1: float, w2: float, second_period: list[float]) -> dict[str, Json]:
    """Return a configuration with these hidden productivities and, in the second period, these hidden tasks."""
    return {"instance": {"productivities": {"W1": w1, "W2": w2}, "tasks": [[20, 40], second_period]}, "periods": 2}


EXAMPLES = Examples(
    configs=(
        {"periods": 6, "workers": 2, "goal": "efficiency", "practice": True},
        {"periods": 4, "workers": 5, "goal": "equality", "instance_seed": 3},
    ),
    reveals=closes_a_period,
    reveals_secrets=True,
    pairs=(Pair(AGENT, config_with_productivities(2, 6, [70, 10]), config_with_productivities(5, 1, [30, 50])),),
    discloses=frozenset({"tasks"}),
)
