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
        played = read_move_file(options["file"])
        if played.game is None or played.seed is None:
            raise invalid_argument(f"{options['file']} must be an object with game, config, seed and moves.")
        game = configured(played.game, played.config)
        with as_command_error():
            play, _events = replay_moves(game, played.seed, played.moves)
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
