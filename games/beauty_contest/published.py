"""Economics Arena's beauty contests: configurations, and the upper limits of its sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from random import Random

from games.grids import Grid, Rows
from games.interface import Json

LIMITS = {"L": (10, 100), "M": (100, 1000), "H": (1000, 10_000)}
"""Upper limits by group: whole numbers from the first up to, but not including, the second."""


def _sessions(groups: str, number: int, seed: int) -> Sequence[Mapping[str, Json]]:
    """Return the sessions of each group in turn, each with a limit drawn for it."""
    return [
        {"upper": Random(f"econarena-contest/{seed}/{group}/{session}").randrange(*LIMITS[group])}
        for group in groups
        for session in range(number)
    ]


TABLES: Mapping[str, Grid | Rows] = {
    "econarena": {
        "told_of_others": ("nothing", "rational", "similar"),
        "runs": (1, 6),
        # With a single run there is no history, whatever the depth.
        "history_depth": (3,),
    },
    "sessions-50": partial(_sessions, "LMH", 50),
    "sessions-10": partial(_sessions, "LMH", 10),
    "sessions-medium-100": partial(_sessions, "M", 100),
}
