"""EconEvals' scheduling: three levels, three instances of each kind of preferences; a ready-made study with people."""

from __future__ import annotations

from collections.abc import Mapping

from games.econevals import LEVELS, benchmark, one_person_study
from games.grids import Grid
from games.lineups import CollectionPreset, StudyPreset
from games.scheduling.instances import KINDS
from games.scheduling.rules import Scheduling

SOURCE = "EconEvals, section 3.2."

TABLES: Mapping[str, Grid] = {"econevals": {"level": LEVELS, "preferences": KINDS}}

PRESETS: Mapping[str, CollectionPreset] = {
    f"econevals-scheduling-{level}": benchmark(
        f"EconEvals: scheduling, {level}",
        f"Twelve instances of level {level}: three for each kind of preferences.",
        SOURCE,
        {"level": level},
    )
    for level in LEVELS
}

STUDIES: Mapping[str, StudyPreset] = {
    "econevals-scheduling-people": one_person_study(
        "EconEvals: scheduling with people", SOURCE, Scheduling.starting_config, minutes=12, turn_seconds=240
    )
}
