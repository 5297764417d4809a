"""`manage.py import_glee DIR [--json] [--dry-run] [--name NAME]`: games in the published GLEE layout.

One line per game. Games that cannot be read are listed on stderr and counted; the rest are imported.
With --dry-run nothing is stored, and no database is needed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from exports.glee.reading import Unreadable, read_tree

INVALID_ARGUMENTS = 2


class Command(BaseCommand):
    help = "Import games in the published GLEE layout; metrics are recomputed by the paper's formulas."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument("--json", action="store_true", help="one JSON object per line and game")
        parser.add_argument("--dry-run", action="store_true", help="read and compute, but store nothing")
        parser.add_argument("--name", default="glee", help="the collections are called NAME-FAMILY (glee)")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        if not folder.is_dir():
            raise CommandError(f"{folder} is not a folder.", returncode=INVALID_ARGUMENTS)
        if options["dry_run"]:
            self._read(folder, options["json"])
        else:
            self._import(folder, options)

    def _read(self, folder: Path, as_json: bool) -> None:
        games = unverified = unreadable = 0
        for outcome in read_tree(folder):
            if isinstance(outcome, Unreadable):
                unreadable += 1
                self.stderr.write(f"{outcome.path}: {outcome.reason}")
                continue
            games += 1
            unverified += outcome.unverified is not None
            self.stdout.write(
                json.dumps(outcome.as_line(), allow_nan=False) if as_json else _as_text(outcome.as_line())
            )
        self._count(games, unverified, unreadable)

    def _import(self, folder: Path, options: dict[str, Any]) -> None:
        from audit import services as audit
        from audit.actions import Action
        from exports.errors import ExportError
        from exports.importing import import_games

        def print_line(line: dict[str, Any]) -> None:
            self.stdout.write(json.dumps(line, allow_nan=False) if options["json"] else _as_text(line))

        try:
            result = import_games(folder, name=options["name"], on_game=print_line)
        except ExportError as error:
            raise CommandError(str(error), returncode=INVALID_ARGUMENTS) from None
        for game in result.unreadable:
            self.stderr.write(f"{game.path}: {game.reason}")
        self._count(result.games, result.unverified, len(result.unreadable))
        for collection in result.collections.values():
            audit.record(
                action=Action.MADE, user=None, target=collection, details={"imported games": collection.planned}
            )
            self.stderr.write(f"{collection.slug}: {collection.planned} games")

    def _count(self, games: int, unverified: int, unreadable: int) -> None:
        self.stderr.write(f"{games} games read, {unverified} of them unverified; {unreadable} unreadable")


def _as_text(line: dict[str, Any]) -> str:
    mark = f" (unverified: {line['unverified']})" if line.get("unverified") else ""
    return f"{line['family']} {line['game_id']}: {json.dumps(line['payoffs'])}{mark}"
