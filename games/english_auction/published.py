"""Economics Arena names the English auction but publishes no collection of it; these follow its other games."""

from __future__ import annotations

from collections.abc import Mapping

from games.econarena import studies_with_people
from games.grids import Grid
from games.lineups import StudyPreset
from games.selections import Selection

TABLES: Mapping[str, Grid] = {"econarena": {"told_of_others": ("nothing", "rational", "similar")}}

SELECTIONS: Mapping[str, Selection] = {}

STUDIES: Mapping[str, StudyPreset] = {
    "econarena-english-people": studies_with_people(
        "Economics Arena: English auction with people", {"increment": 50}, minutes=6, turn_seconds=45
    )
}
