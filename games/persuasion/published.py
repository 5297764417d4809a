"""GLEE's configurations of persuasion: Table 1, and those played by people (Appendix E)."""

from __future__ import annotations

from collections.abc import Mapping

from games.grids import Grid
from games.selections import Selection

GLEE: Grid = {
    "prior": (1 / 3, 0.5, 0.8),
    "high_value": (1.2, 1.25, 2.0, 3.0, 4.0),
    "price": (100.0, 10_000.0, 1_000_000.0),
    "complete_information": (True, False),
    "message_type": ("text", "binary"),
    "buyer_type": ("long_living", "myopic"),
}
"""360 configurations."""

TABLES: Mapping[str, Grid] = {"glee": GLEE}

SELECTIONS: Mapping[str, Selection] = {
    "glee": Selection(
        table=GLEE,
        # The paper does not name its main configurations; these are the baseline of its analysis, with messages.
        main=(
            {"prior": 0.5, "high_value": 1.25, "price": 10_000.0, "buyer_type": "long_living"},
            {"prior": 0.5, "high_value": 1.25, "price": 10_000.0, "buyer_type": "myopic"},
        ),
        quotas={"main": 30, "variant": 8, "random": 5},
    )
}
"""3 main cells (people never play the myopic buyer), 30 variant cells and 24 random cells."""
