"""EconEvals' procurement: three levels with three variants of what models are told; a ready-made study with people."""

from __future__ import annotations

from collections.abc import Mapping

from games.econevals import LEVELS, benchmark, one_person_study
from games.grids import Grid
from games.lineups import CollectionPreset, StudyPreset
from games.procurement.rules import Procurement

SOURCE = "EconEvals, section 3.1; variants: appendix E."
VARIANTS = {"": "baseline", "-horizon": "horizon", "-horizon-goal": "horizon_goal"}
"""What models are told, by the suffix of the preset's name."""
INFORMATION = {
    "baseline": "models are not told the number of periods",
    "horizon": "models are told the number of periods",
    "horizon_goal": "models are told the number of periods and that the best plan counts",
}

TABLES: Mapping[str, Grid] = {"econevals": {"level": LEVELS, "told": tuple(VARIANTS.values())}}

PRESETS: Mapping[str, CollectionPreset] = {
    f"econevals-procurement-{level}{suffix}": benchmark(
        f"EconEvals: procurement, {level}{suffix.replace('-', ' ')}",
        f"Twelve instances of level {level}; {INFORMATION[told]}.",
        SOURCE,
        {"level": level, "told": told},
    )
    for level in LEVELS
    for suffix, told in VARIANTS.items()
}

STUDIES: Mapping[str, StudyPreset] = {
    "econevals-procurement-people": one_person_study(
        "EconEvals: procurement with people", SOURCE, Procurement.starting_config, minutes=20, turn_seconds=300
    )
}
