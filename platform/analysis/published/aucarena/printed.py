"""Numbers printed in the paper, which are shown next to ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

ORDERS = ("random", "ascending", "descending")
BIDDERS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    bidder: dict(zip(ORDERS, pairs, strict=True))
    for bidder, pairs in {
        "GPT-4-Turbo": ((8712.5, 5.0), (7525.0, 5.0), (8287.5, 4.3)),
        "GPT-3.5-Turbo": ((3325.0, 1.0), (2875.0, 1.3), (950.0, 0.5)),
        "Human": ((7237.5, 3.8), (10862.5, 3.8), (10025.0, 5.0)),
    }.items()
}
"""Mean profit and items by order of sale, each over four auctions, from table 2."""
CORRELATIONS = ("initial_bids", "initial_won", "current_bids", "current_won")
FAITHFUL: Mapping[str, Sequence[float]] = {
    "Mistral-7b": (0.1252, 0.2728, 0.1139, 0.2779), "Mixtral-8x7b": (0.3553, 0.4028, 0.3994, 0.4327),
    "Gemini-1.0-Pro": (0.2457, 0.1349, 0.2776, 0.2442), "GPT-3.5-Turbo": (0.1849, 0.0430, 0.1494, 0.0801),
    "GPT-4": (0.3741, 0.3959, 0.6318, 0.6443), "GPT-4-Turbo": (0.2348, 0.0715, 0.6423, 0.4328),
}  # fmt: skip
"""The `CORRELATIONS` of priorities with bids and wins, from figure 6."""
LOWEST_FAILURES = 0.21
"""The lowest corrected failure rate, GPT-4's, in percent (section 4.2); taken to be that of bids."""
_NAMES: Mapping[str, str] = {
    "Human": "human", "GPT-4-Turbo": "gpt-4-(?:turbo|1106)", "GPT-4": r"gpt-4(?:-0\d+)?$", "GPT-3.5-Turbo": r"gpt-3\.5",
    "Mixtral-8x7b": "mixtral", "Mistral-7b": "mistral-7b", "Gemini-1.0-Pro": r"gemini-(?:1\.0-)?pro$",
}  # fmt: skip
"""How the names of models that the paper calls so begin, after those of their makers."""


def name_of(player: str) -> str | None:
    """Return what the paper calls a model; None if it has none, or another way of planning than adaptively."""
    model = player.lower().split(":")[-1].split("/")[-1]
    return next((name for name, beginning in _NAMES.items() if " (" not in model and re.match(beginning, model)), None)
