"""How EconEvals asked its models to choose: one question a call, with reasons first and nothing remembered (H.5)."""

from __future__ import annotations

from collections.abc import Mapping

from games.strategies import PLAIN, Strategy

STRATEGIES: Mapping[str, Strategy] = {
    PLAIN: Strategy("As published: one question at a time, reasons before the answer.", layout="fresh", reasons=True)
}
