"""GLEE's configurations of bargaining: Table 1, and those played by people (Appendix E)."""

from __future__ import annotations

from collections.abc import Mapping

from games.grids import Grid
from games.selections import Selection

FACTORS = (0.8, 0.9, 0.95, 1.0)

GLEE: Grid = {
    "delta_alice": FACTORS,
    "delta_bob": FACTORS,
    "money": (100.0, 10_000.0, 1_000_000.0),
    "rounds": (12, None),
    "complete_information": (True, False),
    "messages_allowed": (True, False),
}
"""384 configurations."""

TABLES: Mapping[str, Grid] = {"glee": GLEE}

SELECTIONS: Mapping[str, Selection] = {
    "glee": Selection(
        table=GLEE,
        # The paper does not name its main configuration; this is the baseline of its analysis, with messages.
        main=({"delta_alice": 0.9, "delta_bob": 0.9, "money": 10_000.0, "rounds": 12},),
        quotas={"main": 50, "variant": 25, "random": 15},
        one_change=({"delta_alice", "delta_bob"},),
    )
}
"""40 variant cells and 36 random cells."""
