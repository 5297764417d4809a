"""EconEvals' patience vs. impatience: four horizons, each amount twenty times; a ready-made study with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from games.econevals import one_person_study
from games.grids import Grid
from games.lineups import CollectionPreset, Environment, Lineups, StudyPreset
from games.patience.rates import YEARS
from games.patience.rules import Patience
from games.selections import Selection

MATCHES = 10
"""Matches per horizon, each with two repetitions: every amount is asked twenty times, in ten of them with now as B."""
SOURCE = "EconEvals, section 5.2 and appendix F."

TABLES: Mapping[str, Grid] = {"econevals": {"horizon": tuple(YEARS)}}

SELECTIONS: Mapping[str, Selection] = {}


def _environments(agents: Sequence[str], seed: int) -> Iterator[Environment]:
    yield Environment(
        "horizons",
        [{"horizon": horizon} for horizon in YEARS],
        Lineups(rule="each", agents=tuple(agents)),
        repetitions=MATCHES,
        title="EconEvals: patience vs. impatience",
    )


PRESETS: Mapping[str, CollectionPreset] = {
    "econevals-patience": CollectionPreset(
        "EconEvals: patience vs. impatience",
        "$100 now or more in one month, six months, one year or five years: every amount twenty times.",
        SOURCE,
        _environments,
        settings={"strategy": "plain", "temperature": 1.0},
    )
}

STUDIES: Mapping[str, StudyPreset] = {
    "econevals-patience-people": one_person_study(
        "EconEvals: patience with people", SOURCE, Patience.starting_config, minutes=5, turn_seconds=60
    )
}
