"""Economics Arena's beauty contests: configurations and all collections."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from games.econarena import Treatment, preset, studies_with_people
from games.grids import Grid
from games.interface import Json
from games.lineups import CollectionPreset, StudyPreset
from games.selections import Selection

LIMITS = {"L": (10, 100), "M": (100, 1000), "H": (1000, 10_000)}
"""Upper limits by group: whole numbers from the first up to, but not including, the second."""

TABLES: Mapping[str, Grid] = {
    "econarena": {
        "told_of_others": ("nothing", "rational", "similar"),
        "runs": (1, 6),
        # With a single run there is no history, whatever the depth.
        "history_depth": (3,),
    }
}

SELECTIONS: Mapping[str, Selection] = {}


def _treatment(seed: int) -> Treatment:
    def session(group: str, number: int) -> Mapping[str, Json]:
        return {"upper": Random(f"econarena-contest/{seed}/{group}/{number}").randrange(*LIMITS[group])}

    return session


PRESETS: Mapping[str, CollectionPreset] = {
    "econarena-contest": preset(
        "Economics Arena: beauty contest",
        "Melee, among rational scripts, with chain of thought, the first five agents, with history, and self-play.",
        _treatment,
        one_configuration_per_group=False,
    )
}

STUDIES: Mapping[str, StudyPreset] = {
    "econarena-contest-people": studies_with_people(
        "Economics Arena: beauty contest with people", {"runs": 6, "history_depth": 3}, minutes=8, turn_seconds=90
    )
}
