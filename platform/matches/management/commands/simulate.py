"""simulate: play whole matches in this process."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from games.interface import Game, Role
from llm_agents.agent import BY_RULES, AgentSpec, parse_spec
from llm_agents.match import MatchRecord, play_match
from matches.management.arguments import StandaloneCommand, as_command_error, configured, invalid_argument, read_json


class Command(StandaloneCommand):
    help = "Plays matches between agents in this process and prints one line per match."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("game")
        parser.add_argument("--config", default="{}", metavar="JSON", help="values that override the defaults")
        parser.add_argument(
            "--seat",
            action="append",
            default=[],
            metavar="ROLE=AGENT",
            help="script:NAME, openai:MODEL or anthropic:MODEL (default: script:random). ROLE may be a "
            "range of the game's seats, p2..p5, or several, comma-separated",
        )
        parser.add_argument(
            "--seed", type=int, default=0, help="seed of the first match, incremented for each further one"
        )
        parser.add_argument("--matches", type=int, default=1, metavar="N")
        parser.add_argument("--json", action="store_true", help="one JSON object per line")

    def handle(self, *args: Any, **options: Any) -> None:
        game = configured(options["game"], read_json(options["config"], "--config"))
        agents = seated(game, options["seat"])
        if options["matches"] < 1:
            raise invalid_argument("--matches must be at least 1.")
        failures = 0
        for number in range(options["matches"]):
            with as_command_error():
                match = play_match(game, options["seed"] + number, agents)
            failures += match.failed is not None
            self.stdout.write(json.dumps(match.as_dict(), allow_nan=False) if options["json"] else summary(match))
        if failures:
            raise CommandError(f"{failures} of {options['matches']} matches failed.", returncode=1)


def seated(game: Game[Any, Any], seats: list[str]) -> dict[Role, AgentSpec]:
    """Return the agent of each role, in the game's order."""
    specs: dict[Role, str] = {}
    for seat in seats:
        roles, equals, agent = seat.partition("=")
        if not equals:
            raise invalid_argument(f"--seat {seat}: must be ROLE=AGENT.")
        for role in _roles(game, roles):
            if role in specs:
                raise invalid_argument(f"--seat names {role} twice.")
            specs[role] = agent
    with as_command_error():
        return {role: parse_spec(specs.get(role, "script:random"), game) for role in game.roles()}


def _roles(game: Game[Any, Any], text: str) -> list[Role]:
    """Return the roles named by "p1", "p2..p5" or "p1,p3..p5"."""
    all_roles, roles = game.roles(), list[Role]()
    for entry in text.split(","):
        first, dots, last = entry.partition("..")
        for role in (first, last) if dots else (first,):
            if role not in all_roles:
                raise invalid_argument(f"{game.key} has no role “{role}”; there are {', '.join(all_roles)}.")
        begin, end = all_roles.index(first), all_roles.index(last or first)
        if end < begin:
            raise invalid_argument(f"--seat {entry}: the range ends before it begins.")
        roles += all_roles[begin : end + 1]
    return roles


def summary(match: MatchRecord) -> str:
    """Return a readable summary of a match."""
    moves = sum(event.kind == "move" for event in match.events)
    forfeits = sum(event.kind == "move" and event.data.get("by") == BY_RULES for event in match.events)
    lines = [
        f"seed {match.play.seed}: {moves} moves"
        + (f", {forfeits} of them forced by unusable answers" if forfeits else "")
        + (f", failed: {match.failed}" if match.failed else "")
    ]
    payoffs = match.play.payoffs()
    lines += [f"  {role} ({agent}): {_formatted(payoffs[role])}" for role, agent in match.agents.items()]
    lines += [f"  {name} = {_formatted(value)}" for name, value in match.play.metrics().items()]
    return "\n".join(lines)


def _formatted(value: Any) -> str:
    return "-" if value is None else f"{value:,.6g}" if isinstance(value, float) else str(value)
