"""Performance of the small model on this machine: how often its answers are unreadable or against the rules.

`python -m deploy.bench.local_model --games bargaining --matches 100` starts the model of `make demo-llm` in the
environment created by `deploy/setup/llm.sh`, and plays against each game's default script in each mode of asking. The
model takes each seat in turn. With `--preset econarena-contest-rational`, it plays the first matches of each treatment
of a published collection as the examined agent, asked as in the preset; `--agents` adds further scripts before it.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from subprocess import DEVNULL
from typing import Any

from config.supervisor import ROOT
from deploy.bench.kit import Table, quantile, serving
from games import registry
from games.play import configure
from llm_agents.agent import SCRIPT, AgentSpec
from llm_agents.endpoints import Endpoint, use_endpoints
from llm_agents.match import MatchRecord, play_match
from llm_agents.settings import bare
from plans.asking import settings_of
from plans.collection import CollectionReader
from plans.library import ready_made

ENDPOINT, MODEL = "local", "smollm2-135m-instruct"
EXAMINED = f"{ENDPOINT}:{MODEL}"
HEADINGS = (
    "matches|ended|without a fallback|purpose|turns|answers|unreadable|illegal|moves by the fallback|failed calls"
    "|median s per answer|seconds"
)
ASKING = {"max_tokens": 200, "tries_after_first": 5, "call_seconds": 120}
TOOLS = {"strategy": "tools", "calls": 6}
MODES: list[tuple[str, dict[str, Any]]] = [
    ("text, every number", {"structured": False}),
    ("schema, every number", {"structured": True}),
    ("schema, fewest numbers", {"structured": True, "short": True}),
    ("tools of the endpoint", {"structured": False, **TOOLS}),
    ("tools in plain JSON", {"structured": False, "plain_tools": True, **TOOLS}),
    ("tools in plain JSON with a schema", {"structured": True, "plain_tools": True, **TOOLS}),
    ("schema, fewest numbers, told as published", {"structured": True, "short": True, "information": "published"}),
]
IN_PRESETS = {"max_tokens": 500, "structured": True, "call_seconds": 3600.0, "fallbacks": ()}
"""What differs from a preset's settings: structured output as on the platform."""


@contextmanager
def local_model(threads: int) -> Iterator[None]:
    """Serve the model with this number of processor threads, as the endpoint `ENDPOINT`."""
    python = ROOT / ".venv-llm" / "bin" / "python"
    if not python.exists():
        raise SystemExit("The local model is not installed: run deploy/setup/llm.sh first.")
    command = [str(python), str(ROOT / "deploy/llm/serve.py"), "--port", "0", "--parallel", "1"]
    with serving([*command, "--threads", str(threads)], stderr=DEVNULL) as (url, _server):
        served = Endpoint(ENDPOINT, "openai", f"{url}/v1", "no-key-needed", structured="json_schema", concurrency=1)
        use_endpoints({ENDPOINT: served}.get)
        yield


def played(key: str, asking: dict[str, Any], options: argparse.Namespace) -> Iterator[MatchRecord]:
    """Yield matches against the game's default script, with the model in each seat in turn."""
    game = configure(registry.get(key), options.config)
    model = AgentSpec(ENDPOINT, MODEL, bare(**ASKING, **asking), script=game.default_script)
    scripts = {role: AgentSpec(SCRIPT, game.default_script) for role in game.roles()}
    for number in range(options.matches):
        yield play_match(game, number, {**scripts, game.roles()[number % len(scripts)]: model})


def played_as_published(options: argparse.Namespace) -> Iterator[MatchRecord]:
    """Yield the first matches of each treatment of a preset; print each one's results, since they may take long."""
    agents = [*filter(None, options.agents.split(",")), EXAMINED]
    reader = CollectionReader(ready_made("collections")[options.preset].adapted(agents))
    plans = [reader.collection(cell.factors) for cell in reader.cells]
    cycle = plans[0].cycle
    for treatment, number in product(range(min(options.treatments, len(plans) // cycle)), range(options.matches)):
        plan = plans[treatment * cycle + number % cycle]
        game = configure(registry.get(plan.game.game), plan.game.config)
        indices = range(plan.lineups.count(game.roles()))
        lineups = (plan.lineups.at(index, game.roles(), repetition=number) for index in indices)
        labels = next(lineup for lineup in lineups if EXAMINED in lineup.values())
        seats = {role: AgentSpec(SCRIPT, plan.agents[label].script or "") for role, label in labels.items()}
        seat = next(role for role, label in labels.items() if label == EXAMINED)
        settings = settings_of(plan.agents[EXAMINED].settings(plan.agents))
        match = play_match(game, number, {**seats, seat: settings.model_copy(update=IN_PRESETS).spec(EXAMINED)})
        result = match.as_dict()
        print(json.dumps({name: result.get(name) for name in ("agents", "payoffs", "metrics", "failed")}), flush=True)
        yield match


def report(table: Table, name: str, matches: Sequence[MatchRecord], seconds: float) -> None:
    """Print a row for all calls of these matches, and one for each purpose if they had several."""
    calls = [call for match in matches for call in match.calls]
    ended = sum(match.play.over and match.failed is None for match in matches)
    replaced = [sum(event.data.get("by") is not None for event in match.events) for match in matches]
    purposes = [*dict.fromkeys(call.purpose for call in calls)]
    for purpose in ["all", *(purposes if len(purposes) > 1 else ())]:
        asked = [call for call in calls if purpose in ("all", call.purpose)]
        answers = [call for call in asked if call.error is None]
        turns, faults = sum(call.try_number == 1 for call in answers), Counter(call.fault for call in answers)
        shares = [f"{faults[fault] / max(1, len(answers)):.1%}" for fault in ("unreadable", "illegal")]
        cells = [turns, len(answers), *shares, f"{sum(replaced) / max(1, turns):.1%}", len(asked) - len(answers)]
        latency = quantile([call.latency for call in answers], 0.5)
        table.row(name, f"{ended} of {len(matches)}", replaced.count(0), purpose, *cells, latency, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", default=registry.keys(), choices=registry.keys())
    parser.add_argument("--modes", nargs="+", type=int, default=[0, 1, 2], choices=range(len(MODES)))
    parser.add_argument("--config", type=json.loads, default={}, metavar="JSON", help="values besides the defaults")
    parser.add_argument("--preset", choices=ready_made("collections"), help="a published collection, not --games")
    parser.add_argument("--agents", default="", help="with --preset: agents before the model, comma-separated")
    parser.add_argument("--treatments", type=int, default=100, help="with --preset: only the first N treatments")
    parser.add_argument("--matches", type=int, default=100, help="of each game and mode, or each treatment")
    parser.add_argument("--threads", type=int, default=2, help="the model's processor threads: 1 on a busy machine")
    options = parser.parse_args()
    series = (
        {options.preset: played_as_published(options)}
        if options.preset
        else {
            f"{key}, {name}": played(key, asking, options)
            for key in options.games
            for name, asking in (MODES[number] for number in options.modes)
        }
    )
    with local_model(options.threads):
        table = Table(HEADINGS)
        for name, matches in series.items():
            started_at, played_matches = time.monotonic(), list(matches)
            report(table, name, played_matches, time.monotonic() - started_at)


if __name__ == "__main__":
    main()
