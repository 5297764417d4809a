"""Performance of the small model on this machine: N matches of each game against its default scripted opponent.

`python -m deploy.bench.local_model` starts the model of `make demo-llm` in the environment created by
`deploy/setup/llm.sh`, plays, and prints a row for each game and mode of asking: unreadable answers,
illegal moves, moves by the fallback script, and how the matches ended. The model takes each seat in half
of the matches.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from games import registry
from games.interface import Game, Role
from games.play import configure
from llm_agents.agent import AgentSpec
from llm_agents.endpoints import Endpoint, use_endpoints
from llm_agents.match import MatchRecord, play_match
from llm_agents.settings import bare

ROOT = Path(__file__).parents[2]
ENDPOINT, MODEL = "local", "smollm2-135m-instruct"
TRIES_AFTER_FIRST = 5


@dataclass(frozen=True)
class Mode:
    """How the model is asked; with `calls`, through tools, with that many calls per period."""

    name: str
    structured: bool
    short: bool = False
    calls: int = 0
    plain: bool = False

    @property
    def agent(self) -> AgentSpec:
        tools = {"strategy": "tools", "plain_tools": self.plain, "calls": self.calls} if self.calls else {}
        settings = bare(
            max_tokens=200,
            structured=self.structured,
            short=self.short,
            tries_after_first=TRIES_AFTER_FIRST,
            call_seconds=120,
            **tools,
        )
        return AgentSpec(ENDPOINT, MODEL, settings)


MODES = [
    Mode("text, every number", structured=False, short=False),
    Mode("schema, every number", structured=True, short=False),
    Mode("schema, fewest numbers", structured=True, short=True),
    Mode("tools of the endpoint", structured=False, calls=6),
    Mode("tools in plain JSON", structured=False, calls=6, plain=True),
    Mode("tools in plain JSON with a schema", structured=True, calls=6, plain=True),
]


@contextmanager
def local_model(threads: int) -> Iterator[None]:
    """Serve the model on a free port with this number of processor threads, as the endpoint `ENDPOINT`."""
    python = ROOT / ".venv-llm" / "bin" / "python"
    if not python.exists():
        raise SystemExit("The local model is not installed: run deploy/setup/llm.sh first.")
    command = [str(python), str(ROOT / "deploy/llm/serve.py")]
    command += ["--port", "0", "--parallel", "1", "--threads", str(threads)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            assert server.stdout is not None
            url = next(line for line in server.stdout if line.startswith("ready ")).split()[1]
            endpoint = Endpoint(
                ENDPOINT, "openai", f"{url}/v1", "no-key-needed", structured="json_schema", concurrency=1
            )
            use_endpoints({ENDPOINT: endpoint}.get)
            yield
        finally:
            server.terminate()


def play(game: Game[Any, Any], mode: Mode, number: int) -> MatchRecord:
    """Play one match; the model has the first seat if `number` is even."""
    model: Role = game.roles()[number % len(game.roles())]
    agents = {role: AgentSpec("script", game.default_script) for role in game.roles()}
    agents[model] = replace(mode.agent, script=game.default_script)
    return play_match(game, number, agents)


def table_row(mode: Mode, matches: Sequence[MatchRecord], seconds: float) -> str:
    """Return the results of the matches as a row of the table."""
    calls = [call for match in matches for call in match.calls]
    answers = [call for call in calls if call.error is None]
    faults = Counter(call.fault for call in answers)
    turns = sum(call.try_number == 1 for call in answers)
    by_fallback = sum(event.data.get("by") is not None for match in matches for event in match.events)
    ended_normally = sum(match.play.over and match.failed is None for match in matches)
    without_fallback = sum(not any(event.data.get("by") for event in match.events) for match in matches)
    return (
        f"| {matches[0].play.game.key} | {mode.name} | {ended_normally} of {len(matches)} | {without_fallback} "
        f"| {turns} | {len(answers)} "
        f"| {faults['unreadable'] / len(answers):.1%} | {faults['illegal'] / len(answers):.1%} "
        f"| {by_fallback / turns:.1%} | {len(calls) - len(answers)} "
        f"| {statistics.median(call.latency for call in answers):.2f} | {seconds:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", nargs="+", default=registry.keys(), choices=registry.keys())
    parser.add_argument("--matches", type=int, default=100)
    parser.add_argument(
        "--modes", "--ways", dest="modes", nargs="+", type=int, default=[0, 1, 2], choices=range(len(MODES))
    )
    parser.add_argument(
        "--config", type=json.loads, default={}, metavar="JSON", help="values that override the defaults"
    )
    parser.add_argument(
        "--threads", type=int, default=2, help="processor threads of the model; use 1 if the machine is busy"
    )
    options = parser.parse_args()
    print(
        "| game | asked for | ended | without a fallback | turns | answers | unreadable | illegal "
        "| moves by the fallback | failed calls | median s per answer | seconds |"
        f"\n{'|---' * 12}|"
    )
    with local_model(options.threads):
        for key in options.games:
            game = configure(registry.get(key), options.config)
            for mode in (MODES[number] for number in options.modes):
                started_at = time.monotonic()
                matches = [play(game, mode, number) for number in range(options.matches)]
                print(table_row(mode, matches, time.monotonic() - started_at), flush=True)


if __name__ == "__main__":
    main()
