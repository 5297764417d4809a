"""show: exactly what a role sees, or is sent, at a point of a match."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from games.play import replay_moves
from llm_agents.strategies import asking, messages
from matches.management.arguments import (
    MoveFile,
    StandaloneCommand,
    as_command_error,
    configured,
    invalid_argument,
    read_json,
    read_move_file,
)


class Command(StandaloneCommand):
    help = "Shows what a role sees (html) or is sent (prompt) after the moves in a file, or at the start."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("game")
        parser.add_argument("--role", required=True)
        parser.add_argument("--config", metavar="JSON", help="values that override the defaults")
        parser.add_argument("--moves", metavar="FILE", help="a JSON list [{role, move}] or a replay file")
        parser.add_argument("--seed", type=int)
        parser.add_argument("--as", dest="form", choices=["html", "prompt"], required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        move_file = read_move_file(options["moves"]) if options["moves"] else MoveFile([])
        if move_file.game not in (None, options["game"]):
            raise invalid_argument(f"{options['moves']} is from {move_file.game}, not {options['game']}.")
        config = read_json(options["config"], "--config") if options["config"] is not None else move_file.config
        seed = options["seed"] if options["seed"] is not None else move_file.seed
        game = configured(options["game"], {} if config is None else config)
        role = options["role"]
        if role not in game.roles():
            raise invalid_argument(f"{game.key} has no role “{role}”; there are {', '.join(game.roles())}.")
        with as_command_error():
            play, events = replay_moves(game, seed or 0, move_file.moves)
            if options["form"] == "prompt":
                prompt = messages(asking(play, role), events)
                self.stdout.write("\n\n".join(f"[{message['role']}]\n{message['content']}" for message in prompt))
                return
            from matches.screens import render_screen

            self.stdout.write(render_screen(play, role))
