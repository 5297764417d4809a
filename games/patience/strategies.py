"""How EconEvals asked models to choose: one question per call, reasons first, no memory (H.5)."""

from __future__ import annotations

from collections.abc import Mapping

from games.strategies import PLAIN, Strategy

STRATEGIES: Mapping[str, Strategy] = {
    PLAIN: Strategy("As published: one question at a time, reasons before the answer.", layout="fresh", reasons=True)
}
