"""EconEvals' efficiency vs. equality: eighteen instances under each of three goals; a ready-made study with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from games.econevals import SETTINGS, one_person_study
from games.grids import Grid
from games.lineups import CollectionPreset, Environment, Lineups, StudyPreset
from games.selections import Selection
from games.task_allocation.rules import TaskAllocation

GOALS = ("both", "efficiency", "equality")
"""The goal of the litmus test, and the two goals that determine its reliability."""
INSTANCES = range(18)
SOURCE = "EconEvals, section 5.1; baselines: appendix E."

TABLES: Mapping[str, Grid] = {"econevals": {"goal": GOALS}}

SELECTIONS: Mapping[str, Selection] = {}


def _environments(agents: Sequence[str], seed: int) -> Iterator[Environment]:
    yield Environment(
        "instances",
        [{"goal": goal, "instance_seed": number} for goal in GOALS for number in INSTANCES],
        Lineups(rule="each", agents=tuple(agents)),
        title="EconEvals: efficiency vs. equality",
    )


PRESETS: Mapping[str, CollectionPreset] = {
    "econevals-task-allocation": CollectionPreset(
        "EconEvals: efficiency vs. equality",
        "Eighteen instances with both goals, and again with each goal alone to measure reliability.",
        SOURCE,
        _environments,
        settings=SETTINGS,
    )
}

STUDIES: Mapping[str, StudyPreset] = {
    "econevals-task-allocation-people": one_person_study(
        "EconEvals: task allocation with people", SOURCE, TaskAllocation.starting_config, minutes=15, turn_seconds=180
    )
}
