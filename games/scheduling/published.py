"""EconEvals' scheduling: three levels, three instances of each kind of preferences."""

from __future__ import annotations

from collections.abc import Mapping

from games.econevals import LEVELS
from games.grids import Grid
from games.scheduling.instances import KINDS

TABLES: Mapping[str, Grid] = {"econevals": {"level": LEVELS, "preferences": KINDS}}
