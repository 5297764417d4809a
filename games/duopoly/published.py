"""EconEvals' collusion vs. competition: three currencies, with and without a rival."""

from __future__ import annotations

from collections.abc import Mapping

from games.grids import Grid

CURRENCIES = (1.0, 3.2, 10.0)
"""α, which multiplies all prices."""

TABLES: Mapping[str, Grid] = {"econevals": {"alpha": CURRENCIES, "rival": (True, False)}}
