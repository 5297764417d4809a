"""How the small model on this machine plays a published collection, and how often it fails.

`python -m deploy.bench.local_preset econarena-contest rational --matches 3` plays the first 3 sessions of each
treatment of an environment with the model as the examined agent, asked as in the preset. `--agents` adds further
baselines of the preset. It prints a line of figures for each match and one for its calls.
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
from games import grids, registry
from games.interface import Game
from games.lineups import CollectionPreset, Environment
from games.play import configure
from llm_agents import agent, match
from llm_agents.agent import SCRIPT, AgentSpec, Decision, Ladder
from llm_agents.match import MatchRecord, play_match
from llm_agents.record import CallRecord

EXAMINED = f"{ENDPOINT}:{MODEL}"


def find_preset(name: str) -> tuple[type[Game[Any, Any]], CollectionPreset]:
    for key in registry.keys():
        presets: Mapping[str, CollectionPreset] = getattr(grids.published(key), "PRESETS", {})
        if name in presets:
            return registry.get(key), presets[name]
    raise SystemExit(f"No game has a preset {name}.")


def ladder_of(settings: Mapping[str, Any]) -> Ladder:
    """Return the model with its fallbacks as in the preset, with structured output as on the platform."""
    model = AgentSpec(
        ENDPOINT,
        MODEL,
        strategy=settings.get("strategy"),
        parameters={"max_tokens": 500} | {key: settings[key] for key in ("temperature",) if key in settings},
        persona=settings.get("persona"),
        structured=True,
    )
    return Ladder(
        agents=(model,),
        tries_after_first=settings.get("tries_after_first", 3),
        call_seconds=3600,
        script=settings.get("script"),
        script_counts=settings.get("script_counts", False),
    )


def matches(
    game_class: type[Game[Any, Any]], environment: Environment, ladder: Ladder, sessions: int, treatments: int
) -> Iterator[tuple[MatchRecord, str]]:
    """Yield the first sessions of each treatment, with the model's seat."""
    cycle = environment.cycle
    for treatment in range(min(treatments, len(environment.configurations) // cycle)):
        for session in range(sessions):
            game = configure(game_class, environment.configurations[treatment * cycle + session % cycle])
            lineup_indices = range(environment.lineups.count(game.roles()))
            lineups = (environment.lineups.at(index, game.roles(), repetition=session) for index in lineup_indices)
            seats = next(lineup for lineup in lineups if EXAMINED in lineup.values())
            seat = next(role for role, spec in seats.items() if spec == EXAMINED)
            agents = {role: AgentSpec(SCRIPT, spec.removeprefix("script:")) for role, spec in seats.items()}
            agents[seat] = ladder.agents[0]
            yield play_match(game, session, agents, ladders={seat: ladder}), seat


def print_decisions() -> None:
    """Print each decision of the model as it is made, since a match may take long."""

    async def decide(*args: Any, **options: Any) -> Decision:
        decision = await agent.decide(*args, **options)
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
    parser.add_argument("environment")
    parser.add_argument("--agents", default="", help="further agents before the model, comma-separated")
    parser.add_argument("--matches", type=int, default=3, help="matches of each treatment")
    parser.add_argument("--treatments", type=int, default=100, help="only the first N treatments")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    game_class, preset = find_preset(options.preset)
    agent_names = [agent for agent in options.agents.split(",") if agent] + [EXAMINED]
    chosen_environment = next(
        environment
        for environment in preset.environments_for(agent_names, 1)
        if environment.name == options.environment
    )
    calls: list[CallRecord] = []
    started_at = time.monotonic()
    print_decisions()
    with local_model(options.threads):
        ladder = ladder_of({**preset.settings, **chosen_environment.settings})
        for played, seat in matches(game_class, chosen_environment, ladder, options.matches, options.treatments):
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
