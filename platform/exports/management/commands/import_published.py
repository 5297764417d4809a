"""`manage.py import_published SYSTEM DIR [--json] [--dry-run] [--name NAME]`: published matches.

One line per match, with payoffs and metrics by our rules, and what disagrees with the published results. Matches that
cannot be read are listed on stderr and counted; the rest are imported. With --dry-run nothing is stored, and no
database is needed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from audit import services as audit
from audit.actions import Action
from exports import systems
from exports.errors import ExportError
from exports.importing import ImportResult, import_matches, readable
from exports.published import Imported, System
from matches.management.arguments import as_command_error, invalid_argument


class Command(BaseCommand):
    help = "Import matches that the authors of a published system share; payoffs and metrics are recomputed."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("system", metavar="SYSTEM", help=f"one of {', '.join(systems.keys())}")
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument("--json", action="store_true", help="one JSON object per line and match")
        parser.add_argument("--dry-run", action="store_true", help="read and compute, but store nothing")
        parser.add_argument("--name", default="", help="the collections are called NAME-GAME (SYSTEM)")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        if not folder.is_dir():
            raise invalid_argument(f"{folder} is not a folder.")
        with as_command_error(ExportError):
            self._read(systems.system_named(options["system"]), folder, options)

    def as_line(self, match: Imported) -> dict[str, Any]:
        """Return what is printed of a match."""
        return match.as_line()

    def counted(self, result: ImportResult) -> str:
        """Return the line of counts."""
        return (
            f"{result.matches} matches read, {result.unverified} of them unverified, {result.disagreeing} with other "
            f"results; {len(result.unreadable)} unreadable"
        )

    def _read(self, system: System, folder: Path, options: dict[str, Any]) -> None:
        def show(match: Imported) -> None:
            line = self.as_line(match)
            self.stdout.write(json.dumps(line, allow_nan=False) if options["json"] else _as_text(line))

        result = ImportResult()
        if options["dry_run"]:
            for match in readable(system.read(folder), result):
                show(match)
        else:
            result = import_matches(system, folder, name=options["name"] or system.key, on_match=show)
        for unreadable in result.unreadable:
            self.stderr.write(f"{unreadable.path}: {unreadable.reason}")
        self.stderr.write(self.counted(result))
        for collection in result.collections.values():
            audit.record(
                action=Action.MADE, user=None, target=collection, details={"imported games": collection.planned}
            )
            self.stderr.write(f"{collection.slug}: {collection.planned} games")


def _as_text(line: dict[str, Any]) -> str:
    notes = [f"unverified: {line['unverified']}"] if line["unverified"] else []
    notes += [f"{one['what']} {one['computed']}, published {one['published']}" for one in line.get("disagreements", ())]
    mark = f" ({'; '.join(notes)})" if notes else ""
    return f"{line['family']} {line['game_id']}: {json.dumps(line['payoffs'])}{mark}"
