"""EconEvals' procurement: three levels with three variants of what models are told."""

from __future__ import annotations

from collections.abc import Mapping

from games.econevals import LEVELS
from games.grids import Grid

TABLES: Mapping[str, Grid] = {"econevals": {"level": LEVELS, "told": ("baseline", "horizon", "horizon_goal")}}
