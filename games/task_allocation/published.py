"""EconEvals' efficiency vs. equality: the goal of the litmus test, and the two goals that determine its reliability."""

from __future__ import annotations

from collections.abc import Mapping

from games.grids import Grid

GOALS = ("both", "efficiency", "equality")

TABLES: Mapping[str, Grid] = {"econevals": {"goal": GOALS}}
