"""Numbers printed in the paper, which are shown next to ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

MODELS: Mapping[str, Sequence[str]] = {
    "Claude 3.5 Sonnet": ("claude-3-5-sonnet",),
    "Gemini 1.5 Pro": ("gemini-1.5-pro",),
    "GPT-4o": ("gpt-4o-2024-11-20",),
}
"""How the names of the paper's models begin."""
SCORES: Mapping[tuple[str, str], Sequence[float]] = {
    ("procurement", "basic"): (72.8, 62.3, 43.8), ("procurement", "medium"): (54.5, 37.9, 38.3),
    ("procurement", "hard"): (54.6, 35.5, 9.0), ("scheduling", "basic"): (100, 63.5, 37.4),
    ("scheduling", "medium"): (69.4, 29.9, -4.5), ("scheduling", "hard"): (36.3, 16.1, 3.2),
    ("pricing", "basic"): (83.2, 68.8, 76.1), ("pricing", "medium"): (68.7, 53.2, 69.6),
    ("pricing", "hard"): (58.7, 39.1, 46.7),
}  # fmt: skip
"""Scores of the `MODELS` × 100, by game and level, from table 1."""
SOLVED: Mapping[tuple[str, str], Sequence[int]] = {
    ("procurement", "basic"): (2, 1, 0), ("procurement", "medium"): (0, 0, 0), ("procurement", "hard"): (0, 0, 0),
    ("scheduling", "basic"): (12, 2, 2), ("scheduling", "medium"): (0, 0, 0), ("scheduling", "hard"): (0, 0, 0),
}  # fmt: skip
"""Fully solved instances, of twelve, from table 1."""
LITMUS: Mapping[str, Sequence[tuple[float, float]]] = {
    "task_allocation": ((0.16, 0.95), (0.33, 0.71), (0.07, 0.92)),
    "patience": ((0.119, 0.80), (0.080, 0.76), (0.070, 0.88)),
    "duopoly": ((0.42, 1), (0.46, 2 / 3), (0.71, 1)),
}
"""Litmus score and reliability of the `MODELS`, from table 2; of patience, the annual interest rate."""
RATES: Mapping[str, Sequence[tuple[float, float]]] = {
    "1 month": ((13.35, 0.839), (13.35, 0.784), (13.35, 0.942)),
    "6 months": ((11.85, 0.827), (4.55, 0.743), (6.60, 0.907)),
    "1 year": ((10.45, 0.825), (8.00, 0.808), (6.00, 0.889)),
    "5 years": ((13.40, 0.758), (5.80, 0.779), (6.25, 0.872)),
}
"""Implied interest rate in percent and reliability of the `MODELS`, by horizon, from table 3."""
LEVELS = ("basic", "medium", "hard")
TOLD: Mapping[str, tuple[Sequence[float], Sequence[float]]] = {
    "baseline": ((62.3, 37.9, 35.5), (0.27, 0.46, 0.35)),
    "horizon": ((47.3, 20.3, 18.6), (0.23, 0.26, 0.41)),
    "horizon_goal": ((50.3, 20.4, 11.1), (0.28, 0.29, 0.52)),
}
"""Gemini's scores × 100 and exploration rates in procurement by level, by what it was told, from table 4."""


def name_of(player: str) -> str | None:
    """Return what the paper calls a model; None if it has none."""
    model = player.lower().split(":")[-1].split("/")[-1]
    return next((name for name, beginnings in MODELS.items() if model.startswith(tuple(beginnings))), None)
