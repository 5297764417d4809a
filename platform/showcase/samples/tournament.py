"""A finished collection: six scripts meet in three repeated dilemmas, everybody against everybody.

Known behaviour: the scripts' own (`games.social_dilemma.baselines`). Those that cooperate until they are exploited
lead, because they earn the common gain with each other and lose little to those that never cooperate.
"""

from __future__ import annotations

from collections.abc import Mapping

from collecting.models import Collection
from collecting.planning import make_collection
from plans.starting import collection_for

SLUG, GAME = "sample-tournament", "social_dilemma"
DILEMMAS = ("prisoners_dilemma", "trust", "travelers_dilemma")
ROUNDS = 8
AGENTS: Mapping[str, str] = {
    "tit for tat": "tit_for_tat",
    "grim trigger": "grim",
    "always cooperate": "always_cooperate",
    "always defect": "always_defect",
    "equilibrium": "nash",
    "random": "random",
}
"""Scripts by label."""
TITLE = "Sample: a tournament of six scripts (simulated)"
DESCRIPTION = (
    "Simulated: six scripts with known rules meet in three dilemmas of eight rounds, everybody against everybody and "
    "against itself, in both orders. Made to show a collection with its leaderboard."
)


def new_collection() -> Collection:
    """Create the collection, ready to start."""
    config = {"base_game": {"by": "dilemma"}, "mechanism": "repetition", "rounds": ROUNDS, "answer_with": "action"}
    plan = collection_for(
        GAME,
        title=TITLE,
        configurations=[config],
        agents={label: {"script": script} for label, script in AGENTS.items()},
        seeds="match",
        factors={"dilemma": {"levels": list(DILEMMAS)}},
    )
    return make_collection(plan, slug=SLUG, seed=1)
