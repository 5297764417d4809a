"""GLEE's configurations of negotiation: Table 1, and those played by people (Appendix E)."""

from __future__ import annotations

from collections.abc import Mapping

from games.grids import Grid
from games.selections import Selection

FACTORS = (0.8, 1.0, 1.2, 1.5)

GLEE: Grid = {
    "seller_factor": FACTORS,
    "buyer_factor": FACTORS,
    "scale": (100.0, 10_000.0, 1_000_000.0),
    "rounds": (1, 10, None),
    "complete_information": (True, False),
    "messages_allowed": (True, False),
}
"""576 configurations."""

TABLES: Mapping[str, Grid] = {"glee": GLEE}

SELECTIONS: Mapping[str, Selection] = {
    "glee": Selection(
        table=GLEE,
        # The paper does not name its main configuration; this one has a surplus, half of it on each side
        # of the scale, several turns for both sides, and messages.
        main=({"seller_factor": 0.8, "buyer_factor": 1.2, "scale": 10_000.0, "rounds": 10},),
        quotas={"main": 50, "variant": 25, "random": 15},
        left_out={"rounds": (1,)},  # people do not play configurations with a single round
    )
}
"""22 variant cells and 36 random cells."""
