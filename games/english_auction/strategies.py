"""Models bid as in the sealed auction of Economics Arena: with remarks beside the bid."""

from __future__ import annotations

from collections.abc import Mapping

from games.econarena import REASON, UNDERSTANDING
from games.strategies import Strategy

STRATEGIES: Mapping[str, Strategy] = {
    "published": Strategy(
        "After Economics Arena: with remarks beside the bid.",
        remarks=lambda game, state, role: (UNDERSTANDING, REASON),
    ),
}
