"""EconEvals' pricing: three levels, half of the instances with linear and half with periodic drift; one study."""

from __future__ import annotations

from collections.abc import Mapping

from games.econevals import LEVELS, benchmark, one_person_study
from games.grids import Grid
from games.lineups import CollectionPreset, StudyPreset
from games.pricing.rules import Pricing

SOURCE = "EconEvals, section 3.3."

TABLES: Mapping[str, Grid] = {"econevals": {"level": LEVELS, "pattern": ("linear", "periodic")}}

PRESETS: Mapping[str, CollectionPreset] = {
    f"econevals-pricing-{level}": benchmark(
        f"EconEvals: pricing, {level}",
        f"Twelve instances of level {level}: half with linear drift, half with periodic drift.",
        SOURCE,
        {"level": level},
    )
    for level in LEVELS
}

STUDIES: Mapping[str, StudyPreset] = {
    "econevals-pricing-people": one_person_study(
        "EconEvals: pricing with people", SOURCE, Pricing.starting_config, minutes=12, turn_seconds=180
    )
}
