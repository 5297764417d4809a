"""Economics Arena's sealed auctions: configurations and all collections."""

from __future__ import annotations

from collections.abc import Mapping

from games.econarena import Treatment, preset, studies_with_people
from games.grids import Grid
from games.interface import Json
from games.lineups import CollectionPreset, StudyPreset
from games.selections import Selection

STAKES = {"L": (100, 50, 10), "M": (1000, 500, 100), "H": (10_000, 5000, 1000)}
"""Assets, mean and standard deviation of the values, by group."""

TABLES: Mapping[str, Grid] = {
    "econarena": {
        "told_of_others": ("nothing", "rational", "similar"),
        "history_reveals": ("bids", "bids_and_values"),
        "runs": (1, 6),
        # With a single run there is no history, whatever the depth.
        "history_depth": (3,),
    }
}

SELECTIONS: Mapping[str, Selection] = {}


def _treatment(seed: int) -> Treatment:
    def session(group: str, number: int) -> Mapping[str, Json]:
        assets, mean, sd = STAKES[group]
        return {"assets": assets, "value_mean": mean, "value_sd": sd}

    return session


PRESETS: Mapping[str, CollectionPreset] = {
    "econarena-sealed": preset(
        "Economics Arena: second-price auction",
        "Melee, among rational scripts, with chain of thought, the first five agents, with history, and self-play.",
        _treatment,
        one_configuration_per_group=True,
    )
}

STUDIES: Mapping[str, StudyPreset] = {
    "econarena-sealed-people": studies_with_people(
        "Economics Arena: second-price auction with people", {"runs": 6, "history_depth": 3}, minutes=8, turn_seconds=90
    )
}
