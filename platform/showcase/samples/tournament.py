"""A finished collection: six scripts meet in three repeated dilemmas, everybody against everybody.

Known behaviour: the scripts' own (`games.social_dilemma.baselines`). Those that cooperate until they are exploited
lead, because they earn the common gain with each other and lose little to those that never cooperate.
"""

from __future__ import annotations

from collections.abc import Mapping

from collecting.models import Collection
from collecting.planning import Plan, make_collection
from games.lineups import Lineups
from opponents.agents import Agent

SLUG, GAME = "sample-tournament", "social_dilemma"
DILEMMAS = ("prisoners_dilemma", "trust", "travelers_dilemma")
ROUNDS = 8
AGENTS: Mapping[str, str] = {
    "tit for tat": "script:tit_for_tat",
    "grim trigger": "script:grim",
    "always cooperate": "script:always_cooperate",
    "always defect": "script:always_defect",
    "equilibrium": "script:nash",
    "random": "script:random",
}
TITLE = "Sample: a tournament of six scripts (simulated)"
DESCRIPTION = (
    "Simulated: six scripts with known rules meet in three dilemmas of eight rounds, everybody against everybody and "
    "against itself, in both orders. Made to show a collection with its leaderboard."
)


def new_collection() -> Collection:
    """Create the collection, ready to start."""
    config = {"mechanism": "repetition", "rounds": ROUNDS, "answer_with": "action"}
    return make_collection(
        Plan(
            title=TITLE,
            slug=SLUG,
            game=GAME,
            configurations=[{"base_game": game, **config} for game in DILEMMAS],
            lineups=Lineups(rule="product", agents=tuple(AGENTS)),
            agents_by_label={label: Agent(spec=spec) for label, spec in AGENTS.items()},
            seeds="match",
            seed=1,
        )
    )
