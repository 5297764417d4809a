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


def name_of(player: str) -> str | None:
    """Return what the paper calls a model; None if it has none."""
    model = player.lower().split(":")[-1].split("/")[-1]
    return next((name for name, beginnings in MODELS.items() if model.startswith(tuple(beginnings))), None)
