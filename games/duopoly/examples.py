"""Configurations of the duopoly for the contract tests; the advice and every closed period reveal market data."""

from __future__ import annotations

from games.examples import Examples
from games.practice import closes_a_period

EXAMPLES = Examples(
    configs=(
        {"periods": 5, "alpha": 3.2},
        {"periods": 4, "rival": False, "practice": True},
        {"periods": 3, "advice": None},
    ),
    reveals=closes_a_period,
    reveals_secrets=True,
    discloses=frozenset({"situation", "advised"}),
)
