"""EconEvals' procurement: three levels with three variants of what models are told; a ready-made study with people."""

from __future__ import annotations

from collections.abc import Mapping

from games.econevals import LEVELS, alone, benchmark
from games.grids import Grid
from games.lineups import CollectionPreset, StudyPreset
from games.procurement.rules import Procurement

SOURCE = "EconEvals, section 3.1; variants: appendix E."
TOLD = {"": "baseline", "-horizon": "horizon", "-horizon-goal": "horizon_goal"}
"""What models are told, by the suffix of the preset's name."""

TABLES: Mapping[str, Grid] = {"econevals": {"level": LEVELS, "told": tuple(TOLD.values())}}

PRESETS: Mapping[str, CollectionPreset] = {
    f"econevals-procurement-{level}{ending}": benchmark(
        f"EconEvals: procurement, {level}{ending.replace('-', ' ')}",
        f"Twelve instances of level {level}; told: {told.replace('_', ' and ')}.",
        SOURCE,
        {"level": level, "told": told},
    )
    for level in LEVELS
    for ending, told in TOLD.items()
}

STUDIES: Mapping[str, StudyPreset] = {
    "econevals-procurement-people": alone(
        "EconEvals: procurement with people", SOURCE, Procurement.starting_config, minutes=20, turn_seconds=300
    )
}
