"""How models are asked: with remarks, as in Economics Arena's sealed auction."""

from __future__ import annotations

from collections.abc import Mapping

from games.econarena import REASON, UNDERSTANDING
from games.strategies import Strategy

STRATEGIES: Mapping[str, Strategy] = {
    "published": Strategy(
        "Following Economics Arena: the model adds remarks to its bid.",
        remarks=lambda game, state, role: (UNDERSTANDING, REASON),
    ),
}
