"""AucArena's auctions: its settings, its three collections of models, and the auction with a person.

Source: AucArena, sections 4.1 and 4.3, appendix B.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from games.grids import Grid
from games.interface import Json
from games.lineups import AGENT, SECOND_AGENT, CollectionPreset, Environment, Lineups, PresetAgent, StudyPreset
from games.selections import Selection

SOURCE = "AucArena, sections 4.1 and 4.3, appendix B."
ORDERS = ("random", "ascending", "descending")
BUDGETS = (20_000, 40_000)
REPETITIONS = 10
RULE = "script:rule"
LOTS: Sequence[Mapping[str, Json]] = [
    {"name": f"Lot {number}", "start_price": 5000 if number <= 4 else 1000} for number in range(1, 21)
]
"""The twenty items of the auctions with different objectives: four expensive ones and sixteen cheap ones."""
SETTINGS: Mapping[str, Json] = {
    "strategy": "adaptive",
    "temperature": 0.0,
    "tries_after_first": 3,
    "script": "withdraw",
    "script_counts": True,
}
"""A bid that is still unreadable or illegal after all tries counts as a withdrawal, and the auction counts."""

TABLES: Mapping[str, Grid] = {"aucarena": {"budget": BUDGETS, "order": ORDERS}}

SELECTIONS: Mapping[str, Selection] = {}


def _standard(agents: Sequence[str], seed: int) -> Iterator[Environment]:
    """Return a collection for each challenger and the rule bidder against the first two agents, the baselines."""
    baselines = dict(zip(("p2", "p3"), agents, strict=False))
    challengers = [*agents[2:], *([] if RULE in agents else [RULE])]
    for number, challenger in enumerate(challengers, start=1):
        yield Environment(
            f"challenger-{number}",
            [{"budget": budget, "order": order} for budget in BUDGETS for order in ORDERS],
            Lineups(rule="each", agents=(challenger,), fixed=baselines, rotate=True),
            repetitions=REPETITIONS,
            title=f"AucArena, standard: {challenger}",
        )


def _modules(agents: Sequence[str], seed: int) -> Iterator[Environment]:
    """Return a collection for each model, which bids against itself with and without planning."""
    for number, model in enumerate(agents, start=1):
        agents_by_label = {
            f"{model} {strategy}": PresetAgent(model, {"strategy": strategy})
            for strategy in ("adaptive", "static", "none")
        }
        yield Environment(
            f"model-{number}",
            [{"budget": budget} for budget in BUDGETS],
            Lineups(rule="together", agents=tuple(agents_by_label), rotate=True),
            agents=agents_by_label,
            repetitions=REPETITIONS,
            title=f"AucArena, modules: {model}",
        )


def _objectives(agents: Sequence[str], seed: int) -> Iterator[Environment]:
    """Return a collection in which each of two models bids once for profit and once for items; seats alternate."""
    first, second = agents
    yield Environment(
        "pair",
        [
            {"players": 4, "items": LOTS, "budget": budget, "objectives": ["profit", "items", "profit", "items"]}
            for budget in (10_000, 20_000, 30_000)
        ],
        Lineups(rule="listed", listed=({"p1": first, "p2": first, "p3": second, "p4": second},), rotate=True),
        repetitions=REPETITIONS,
    )


PRESETS: Mapping[str, CollectionPreset] = {
    "aucarena-standard": CollectionPreset(
        title="AucArena: standard",
        summary="One collection per challenger, and one for the rule bidder, against two fixed bidders: the first "
        "two agents. Two budgets, three orders of sale, 10 auctions each.",
        source=SOURCE,
        environments=_standard,
        agents=2,
        settings=SETTINGS,
    ),
    "aucarena-modules": CollectionPreset(
        title="AucArena: modules",
        summary="One collection per model, which bids against itself: with a plan after every item, with one plan, "
        "and without plans. Two budgets, 10 auctions each.",
        source=SOURCE,
        environments=_modules,
        settings=SETTINGS,
    ),
    "aucarena-objectives": CollectionPreset(
        title="AucArena: objectives",
        summary="Two models bid for twenty items, each once for profit and once for the number of items. Three "
        "budgets, 10 auctions each.",
        source=SOURCE,
        environments=_objectives,
        agents=2,
        most_agents=2,
        settings=SETTINGS,
    ),
}

STUDIES: Mapping[str, StudyPreset] = {
    "aucarena-human": StudyPreset(
        title="AucArena with people",
        summary="A draft study: one person against two models, 4 people for each of three orders of sale.",
        source=SOURCE,
        tables={"person": {"p1": "person", "p2": AGENT, "p3": SECOND_AGENT}},
        config={"budget": BUDGETS[0]},
        minutes=30,
        fields={
            "design": {"grid": {"order": list(ORDERS)}},
            "quota": 4,
            "turn_seconds": 60,
            "on_timeout": "default",
        },
        settings=SETTINGS,
    )
}
