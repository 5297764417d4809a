"""EconEvals' pricing: three levels, half of the instances with linear and half with periodic drift."""

from __future__ import annotations

from collections.abc import Mapping

from games.econevals import LEVELS
from games.grids import Grid

TABLES: Mapping[str, Grid] = {"econevals": {"level": LEVELS, "pattern": ("linear", "periodic")}}
