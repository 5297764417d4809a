"""Configurations of scheduling for the contract tests; every closed period reveals part of the preferences."""

from __future__ import annotations

from games.examples import Examples, Pair
from games.interface import Json
from games.periods import AGENT
from games.practice import closes_a_period

TASKS, WORKERS = ["T1", "T2", "T3"], ["W1", "W2", "W3"]


def config_with_rankings(workers: list[list[str]], tasks: list[list[str]]) -> dict[str, Json]:
    """Return a configuration with these rankings, all of which are hidden."""
    by_worker, by_task = dict(zip(WORKERS, workers, strict=True)), dict(zip(TASKS, tasks, strict=True))
    return {"instance": {"worker_preferences": by_worker, "task_preferences": by_task}, "periods": 3}


EXAMPLES = Examples(
    configs=(
        {"level": "small", "periods": 6, "practice": True},
        {"level": "small", "periods": 4, "feedback": 3, "preferences": "correlated"},
        {"periods": 3, "instance_seed": 5},
    ),
    reveals=closes_a_period,
    reveals_secrets=True,
    pairs=(
        Pair(
            AGENT,
            config_with_rankings([TASKS] * 3, [WORKERS] * 3),
            config_with_rankings([TASKS[::-1]] * 3, [WORKERS[1:] + WORKERS[:1]] * 3),
        ),
    ),
)
