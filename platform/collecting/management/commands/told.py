"""`manage.py told PRESET`: what the models of a ready-made collection are told, without calling anybody."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from games.interface import Json
from matches.management.arguments import StandaloneCommand, as_command_error, invalid_argument, read_json
from plans.library import ready_made
from plans.reading import BadPlan
from plans.telling import ToldEnvironment, ToldSeat, collections_named, told_in


class Command(StandaloneCommand):
    help = "Shows what the models of a ready-made collection are told in their first turns, exactly as it is sent."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "preset",
            metavar="PRESET",
            help=f"one of {', '.join(ready_made('collections'))}; or the beginning of several names, such as glee-llm",
        )
        parser.add_argument("--agents", default="", metavar="A,B,…", help="agents in place of its models")
        parser.add_argument("--seat", default="", metavar="ROLE", help="only this seat")
        parser.add_argument("--environment", default="", metavar="NAME", help="only this environment")
        parser.add_argument("--config", metavar="JSON", help="parameters that replace the first configuration's")
        parser.add_argument("--turns", type=int, default=1, metavar="N", help="calls of each model (default: 1)")
        parser.add_argument("--seed", type=int, default=1, metavar="S", help="seed of the match (default: 1)")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        config = read_json(options["config"] or "{}", "--config")
        if not isinstance(config, dict):
            raise invalid_argument("--config must be a JSON object.")
        if options["turns"] < 1:
            raise invalid_argument("--turns must be at least 1.")
        agents = [agent for agent in options["agents"].split(",") if agent]
        chosen = {name: options[name] for name in ("environment", "seat", "turns", "seed")}
        with as_command_error(BadPlan):
            presets = collections_named(options["preset"])
            found = [each for ready in presets for each in told_in(ready, agents=agents, config=config, **chosen)]
        if not found:
            raise invalid_argument("No environment of this preset has this name and these parameters.")
        if options["json"]:
            self.stdout.write(json.dumps(as_data(options["preset"], found), ensure_ascii=False))
        else:
            self.stdout.write(_as_text(options["preset"], found))


def as_data(preset: str, environments: list[ToldEnvironment]) -> dict[str, Json]:
    """Return what is told as plain data."""
    modes = {seat.settings.information for environment in environments for seat in environment.seats}
    return {
        "preset": preset,
        "mode": modes.pop() if len(modes) == 1 else "mixed",
        "environments": [
            {
                "name": environment.name,
                "game": environment.game.key,
                "configuration": environment.game.config.model_dump(mode="json"),
                "seats": [_seat(seat) for seat in environment.seats],
            }
            for environment in environments
        ],
    }


def _seat(seat: ToldSeat) -> dict[str, Json]:
    settings = seat.settings.model_dump(mode="json", exclude={"tries_after_first"})
    return {
        "seat": seat.seat,
        "agent": seat.agent,
        "settings": {**settings, "tries": seat.settings.tries_after_first + 1},
        "turns": [{"turn": number, **turn.as_dict()} for number, turn in enumerate(seat.turns, start=1)],
    }


def _as_text(preset: str, environments: list[ToldEnvironment]) -> str:
    parts = [preset]
    for environment in environments:
        config = environment.game.config.model_dump_json()
        parts.append(f"===== {environment.name}: {environment.game.key} {config}")
        for seat in environment.seats:
            for number, turn in enumerate(seat.turns, start=1):
                head = f"--- {seat.seat} ({seat.agent}, {seat.settings.information}), turn {number}, {turn.purpose}"
                parts += [head, turn.words()]
    return "\n\n".join(parts)
