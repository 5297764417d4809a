"""AucArena's auctions: its settings.

Source: AucArena, sections 4.1 and 4.3, appendix B.
"""

from __future__ import annotations

from collections.abc import Mapping

from games.grids import Grid

ORDERS = ("random", "ascending", "descending")
BUDGETS = (20_000, 40_000)

TABLES: Mapping[str, Grid] = {"aucarena": {"budget": BUDGETS, "order": ORDERS}}
