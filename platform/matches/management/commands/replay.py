"""replay: replay a file of moves."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import CommandParser

from games.play import replay_moves
from matches.management.arguments import (
    StandaloneCommand,
    as_command_error,
    configured,
    invalid_argument,
    read_move_file,
)


class Command(StandaloneCommand):
    help = "Replays the moves in a file {game, config, seed, moves: [{role, move}]} and prints the state of the match."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file")
        parser.add_argument("--json", action="store_true", help="one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        move_file = read_move_file(options["file"])
        if move_file.game is None or move_file.seed is None:
            raise invalid_argument(f"{options['file']} must be an object with game, config, seed and moves.")
        game = configured(move_file.game, move_file.config)
        with as_command_error():
            play, _events = replay_moves(game, move_file.seed, move_file.moves)
        result = {
            "over": play.over,
            "waiting_for": list(play.waiting_for()),
            "payoffs": play.payoffs(),
            "metrics": play.metrics(),
        }
        if options["json"]:
            self.stdout.write(json.dumps(result, allow_nan=False))
            return
        for name, value in result.items():
            self.stdout.write(f"{name}: {json.dumps(value, ensure_ascii=False)}")
