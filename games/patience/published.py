"""EconEvals' patience vs. impatience: four horizons."""

from __future__ import annotations

from collections.abc import Mapping

from games.grids import Grid
from games.patience.rates import YEARS

TABLES: Mapping[str, Grid] = {"econevals": {"horizon": tuple(YEARS)}}
