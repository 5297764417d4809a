"""Economics Arena names the English auction but publishes no collection of it; these follow its other games."""

from __future__ import annotations

from collections.abc import Mapping

from games.grids import Grid

TABLES: Mapping[str, Grid] = {"econarena": {"told_of_others": ("nothing", "rational", "similar")}}
