"""EconEvals' collusion vs. competition: three currencies; agents against themselves, each other, or alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from games.duopoly.rules import Duopoly
from games.econevals import SETTINGS
from games.grids import Grid
from games.interface import Json
from games.lineups import AGENT, CollectionPreset, Environment, Lineups, StudyPreset
from games.selections import Selection

CURRENCIES = (1.0, 3.2, 10.0)
"""α, which multiplies all prices."""
REPETITIONS = 7
SOURCE = "EconEvals, section 5.3 and appendix G."

TABLES: Mapping[str, Grid] = {"econevals": {"alpha": CURRENCIES, "rival": (True, False)}}

SELECTIONS: Mapping[str, Selection] = {}

Environments = Callable[[Sequence[str], int], Iterator[Environment]]


def _environments_of(
    name: str, lineups: Callable[[tuple[str, ...]], Lineups], *, rival: bool, repetitions: int
) -> Environments:
    def environments(agents: Sequence[str], seed: int) -> Iterator[Environment]:
        configurations: list[Mapping[str, Json]] = [{"alpha": alpha, "rival": rival} for alpha in CURRENCIES]
        yield Environment(name, configurations, lineups(tuple(agents)), repetitions=repetitions)

    return environments


def _single_agents(agents: tuple[str, ...]) -> Lineups:
    return Lineups(rule="each", agents=agents)


def _ordered_pairs(agents: tuple[str, ...]) -> Lineups:
    return Lineups(rule="product", agents=agents)


PRESETS: Mapping[str, CollectionPreset] = {
    "econevals-duopoly": CollectionPreset(
        "EconEvals: collusion vs. competition",
        "Both firms are the same agent: three currencies, seven matches each.",
        SOURCE,
        _environments_of("self", _single_agents, rival=True, repetitions=REPETITIONS),
        settings=SETTINGS,
    ),
    "econevals-duopoly-pairs": CollectionPreset(
        "EconEvals: collusion vs. competition, all pairs",
        "Every agent against every agent, including itself, in both seats: three currencies, seven matches each.",
        SOURCE,
        _environments_of("pairs", _ordered_pairs, rival=True, repetitions=REPETITIONS),
        agents=2,
        settings=SETTINGS,
    ),
    "econevals-duopoly-alone": CollectionPreset(
        "EconEvals: a firm alone",
        "Whether an agent finds the monopoly price, once in each of three currencies: a test of its reliability.",
        SOURCE,
        _environments_of("alone", _single_agents, rival=False, repetitions=1),
        settings=SETTINGS,
    ),
}

STUDIES: Mapping[str, StudyPreset] = {
    "econevals-duopoly-people": StudyPreset(
        title="EconEvals: duopoly with people",
        summary="Two drafts: one person against an agent, two people against each other.",
        source=SOURCE,
        tables={"one": {"firm_1": "person", "firm_2": AGENT}, "people": {"*": "person"}},
        config=Duopoly.starting_config,
        minutes=10,
        fields={
            "turn_seconds": 120,
            "extension_seconds": 60,
            "on_timeout": "default",
            "lobby_seconds": 300,
            "lobby_after": "agents",
        },
    ),
    "econevals-duopoly-alone-people": StudyPreset(
        title="EconEvals: a firm alone, with people",
        summary="One draft: a person sets the price of a firm without a rival.",
        source=SOURCE,
        tables={"alone": {"firm_1": "person"}},
        config={**Duopoly.starting_config, "rival": False, "practice": True},
        minutes=10,
        fields={"turn_seconds": 120, "extension_seconds": 60, "on_timeout": "default"},
    ),
}
