"""CoopEval's tournaments: the first four base games under each mechanism, with all types of agents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from games.interface import Json, Role
from games.lineups import AGENT, CollectionPreset, Environment, Lineups, StudyPreset
from games.social_dilemma.config import REPUTATION, Mechanism

BASE_GAMES = ("prisoners_dilemma", "public_goods", "travelers_dilemma", "trust")
REPETITIONS = 3
"""Complete tournaments, as published."""
MAX_POPULATION = 12
SOURCE = "CoopEval: social dilemmas among language models under mechanisms that may make cooperation hold."

SUMMARIES: Mapping[Mechanism, str] = {
    "none": "Four dilemmas played once, every agent against every other and itself, three times.",
    "repetition": "Four dilemmas repeated among the same players, all against all, three times.",
    "reputation_first_order": "All agents meet at random and see what their partners did before.",
    "reputation_higher_order": "All agents meet at random and also see what their partners' earlier partners had done.",
    "mediation": "Players choose a mediator that plays for players who delegate, all against all, three times.",
    "contract": "Players propose, choose and sign a contract of payments, all against all, three times.",
}


def _tournament(mechanism: Mechanism, agents: Sequence[str], seed: int) -> Iterator[Environment]:
    """Return one collection: every base game with the full product of agents, or with one population of all of them."""
    config: dict[str, Json] = {"mechanism": mechanism, "answer_with": "percentages", "stopping": "published"}
    if mechanism in REPUTATION:
        config["population"] = len(agents)
    yield Environment(
        "tournament",
        [{"base_game": game, **config} for game in BASE_GAMES],
        Lineups(rule="population" if mechanism in REPUTATION else "product", agents=tuple(agents)),
        repetitions=REPETITIONS,
        seeds="match",
    )


def _preset(mechanism: Mechanism) -> CollectionPreset:
    in_population = mechanism in REPUTATION
    return CollectionPreset(
        title=f"CoopEval: {mechanism.replace('_', ' ')}",
        summary=SUMMARIES[mechanism],
        source=SOURCE,
        environments=partial(_tournament, mechanism),
        agents=2 if in_population else 1,
        most_agents=MAX_POPULATION if in_population else None,
        settings={"strategy": "chain_of_thought", "temperature": 1.0},
    )


PRESETS: Mapping[str, CollectionPreset] = {
    f"coopeval-{mechanism.replace('_', '-')}": _preset(mechanism) for mechanism in SUMMARIES
}


# ---- studies with people ------------------------------------------------------------------------------

TOGETHER: Mapping[str, Json] = {
    "turn_seconds": 90,
    "extension_seconds": 30,
    "on_timeout": "default",
    "lobby_seconds": 300,
    "lobby_after": "agents",
}


def _people(
    title: str, config: Mapping[str, Json], minutes: int, tables: Mapping[str, Mapping[Role, str]]
) -> StudyPreset:
    return StudyPreset(
        title=title,
        summary="A draft for each line-up: " + ", ".join(tables) + ".",
        source=SOURCE,
        tables=tables,
        config=config,
        minutes=minutes,
        fields=TOGETHER,
    )


PAIR: Mapping[str, Mapping[Role, str]] = {"one": {"p1": "person", "p2": AGENT}, "people": {"*": "person"}}
GROUP: Mapping[str, Mapping[Role, str]] = {
    "one": {"p1": "person", "*": AGENT},
    "several": {"p1": "person", "p2": "person", "*": AGENT},
    "people": {"*": "person"},
}

STUDIES: Mapping[str, StudyPreset] = {
    "coopeval-repetition-people": _people(
        "CoopEval: repetition with people", {"mechanism": "repetition", "rounds": 10}, 8, PAIR
    ),
    "coopeval-reputation-people": _people(
        "CoopEval: reputation with people",
        {"mechanism": "reputation_first_order", "rounds": 10, "population": 3},
        10,
        GROUP,
    ),
    "coopeval-mediation-people": _people("CoopEval: mediation with people", {"mechanism": "mediation"}, 6, PAIR),
    "coopeval-contract-people": _people(
        "CoopEval: contract with people", {"mechanism": "contract", "base_game": "public_goods"}, 7, GROUP
    ),
}

DEMOS: Mapping[str, Mapping[str, Json]] = {
    "contract": {"mechanism": "contract", "base_game": "public_goods"},
    "reputation": {"mechanism": "reputation_first_order", "rounds": 4, "population": 3},
}
"""Additional demonstrations; the usual one shows repetition."""
