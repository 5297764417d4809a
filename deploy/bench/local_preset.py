"""How the small model on this machine plays a published collection, and how often it fails.

`python -m deploy.bench.local_preset econarena-contest-rational --matches 3` plays the first 3 sessions of each
treatment with the model as the examined agent, asked as in the preset. `--agents` adds further scripts before it.
It prints a line of figures for each match and one for its calls.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deploy.bench.local_model import ENDPOINT, MODEL, local_model
from games import registry
from games.play import configure
from llm_agents import deciding, match
from llm_agents.agent import SCRIPT, AgentSpec
from llm_agents.deciding import Decision
from llm_agents.match import MatchRecord, play_match
from llm_agents.record import CallRecord
from plans.asking import settings_of
from plans.collection import CollectionPlan, CollectionReader
from plans.library import ready_made

EXAMINED = f"{ENDPOINT}:{MODEL}"


def model_with(settings: Mapping[str, Any]) -> AgentSpec:
    """Return the model with its fallbacks as in the preset, with structured output as on the platform."""
    changes = {"max_tokens": 500, "structured": True, "call_seconds": 3600.0, "fallbacks": ()}
    return settings_of(settings).model_copy(update=changes).spec(EXAMINED)


def matches(plans: Sequence[CollectionPlan], sessions: int, treatments: int) -> Iterator[tuple[MatchRecord, str]]:
    """Yield the first sessions of each treatment, with the model's seat."""
    cycle = plans[0].cycle
    for treatment in range(min(treatments, len(plans) // cycle)):
        for session in range(sessions):
            plan = plans[treatment * cycle + session % cycle]
            game = configure(registry.get(plan.game.game), plan.game.config)
            lineup_indices = range(plan.lineups.count(game.roles()))
            lineups = (plan.lineups.at(index, game.roles(), repetition=session) for index in lineup_indices)
            seats = next(lineup for lineup in lineups if EXAMINED in lineup.values())
            seat = next(role for role, label in seats.items() if label == EXAMINED)
            agents = {role: AgentSpec(SCRIPT, plan.agents[label].script or "") for role, label in seats.items()}
            agents[seat] = model_with(plan.agents[EXAMINED].settings(plan.agents))
            yield play_match(game, session, agents), seat


def print_decisions() -> None:
    """Print each decision of the model as it is made, since a match may take long."""

    async def decide(*args: Any, **options: Any) -> Decision:
        decision = await deciding.decide(*args, **options)
        if decision.calls:
            print(" ", decision.by or "model", json.dumps(decision.move), summary_of(decision.calls), flush=True)
        return decision

    match.decide = decide


def summary_of(calls: Sequence[CallRecord]) -> str:
    """Return, for each purpose: answers, unreadable and illegal ones, and the median seconds."""
    purposes = dict.fromkeys(call.purpose for call in calls)
    summaries = []
    for purpose in purposes:
        answers = [call for call in calls if call.purpose == purpose and call.error is None]
        faults = Counter(call.fault for call in answers)
        seconds = statistics.median(call.latency for call in answers) if answers else 0.0
        summaries.append(
            f"{purpose}: {len(answers)} answers, {faults['unreadable']} unreadable, {faults['illegal']} illegal, "
            f"median {seconds:.1f} s"
        )
    failed = sum(call.error is not None for call in calls)
    return "; ".join([*summaries, f"{failed} calls failed"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("preset")
    parser.add_argument("--agents", default="", help="further agents before the model, comma-separated")
    parser.add_argument("--matches", type=int, default=3, help="matches of each treatment")
    parser.add_argument("--treatments", type=int, default=100, help="only the first N treatments")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    agents = [agent for agent in options.agents.split(",") if agent] + [EXAMINED]
    calls: list[CallRecord] = []
    started_at = time.monotonic()
    print_decisions()
    with local_model(options.threads):
        reader = CollectionReader(ready_made("collections")[options.preset].adapted(agents))
        plans = [reader.collection(cell.factors) for cell in reader.cells]
        for played, seat in matches(plans, options.matches, options.treatments):
            calls += played.calls
            own_metrics = {key: value for key, value in played.play.metrics().items() if key.startswith(f"{seat}_")}
            payoffs = {role: payoff for role, payoff in played.play.payoffs().items()}
            by_fallback = sum(event.data.get("by") is not None for event in played.events)
            figures = {
                "seat": seat,
                "payoffs": payoffs,
                "by_fallback": by_fallback,
                "failed": played.failed,
                **own_metrics,
            }
            print(json.dumps(figures), flush=True)
            print(" ", summary_of(played.calls), flush=True)
    print(f"all in {time.monotonic() - started_at:.0f} s:", summary_of(calls))


if __name__ == "__main__":
    main()
