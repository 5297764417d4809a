"""What a collection's model calls will take and cost, before it starts: the forecast of a sample of its matches."""

from __future__ import annotations

from dataclasses import replace

from collecting import planning
from collecting.models import Collection
from opponents.agents import Agent
from studies.forecast import MAX_TOTAL_MOVES, ModelCosts, model_costs
from studies.simulating import ModelUse, Setting, simulated

SAMPLE = 12


def estimate_of(collection: Collection) -> ModelCosts | None:
    """Return the costs of the planned matches, at most the budget; None if no model plays.

    Raises:
        GameError: a match cannot be played by scripts.
    """
    if not planning.models_of(planning.agents_in(collection).values()):
        return None
    sampled, moves = 0, 0.0
    uses: list[tuple[Agent, ModelUse]] = []
    for number in range(1, collection.planned + 1, max(1, collection.planned // SAMPLE)):
        if moves >= MAX_TOTAL_MOVES:
            break
        planned = planning.planned_match(collection, number)
        match = simulated(_setting(collection, planned), planned.seed, measured=True)
        moves, sampled = moves + match.moves, sampled + 1
        uses += match.uses
    weight = collection.planned / sampled
    costs = model_costs(collection.game, ((weight, agent, use) for agent, use in uses), planning.prices(collection))
    if costs.at_most is None or collection.budget is None:
        return costs
    return replace(costs, at_most=min(costs.at_most, collection.budget))


def _setting(collection: Collection, planned: planning.PlannedMatch) -> Setting:
    agents = {
        role: Agent(spec=player.agent, delay=player.delay, settings=player.settings)
        for role, player in planned.players.items()
    }
    template = planned.instructions if planned.edited else ""
    return Setting.of(
        collection.game, planned.config, {role: role for role in agents}, agents, template=template, chat=planned.chat
    )
