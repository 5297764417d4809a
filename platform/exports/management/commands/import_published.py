"""`manage.py import_published SYSTEM DIR [--json] [--dry-run] [--name NAME]`: published matches.

One line per match, with payoffs and metrics by our rules, and what disagrees with the published results. Matches that
cannot be read are listed on stderr and counted; the rest are imported. With --dry-run nothing is stored, and no
database is needed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from exports import systems
from exports.errors import ExportError
from exports.published import Imported, System, Unreadable

INVALID_ARGUMENTS = 2


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
            raise CommandError(f"{folder} is not a folder.", returncode=INVALID_ARGUMENTS)
        try:
            system = systems.system_named(options["system"])
            (self._read if options["dry_run"] else self._import)(system, folder, options)
        except ExportError as error:
            raise CommandError(str(error), returncode=INVALID_ARGUMENTS) from None

    def as_line(self, match: Imported) -> dict[str, Any]:
        """Return what is printed of a match."""
        return match.as_line()

    def counted(self, matches: int, unverified: int, disagreeing: int, unreadable: int) -> str:
        """Return the line of counts."""
        return (
            f"{matches} matches read, {unverified} of them unverified, {disagreeing} with other results; "
            f"{unreadable} unreadable"
        )

    def _print(self, match: Imported, as_json: bool) -> None:
        line = self.as_line(match)
        self.stdout.write(json.dumps(line, allow_nan=False) if as_json else _as_text(line))

    def _read(self, system: System, folder: Path, options: dict[str, Any]) -> None:
        matches = unverified = disagreeing = unreadable = 0
        for match in system.read(folder):
            if isinstance(match, Unreadable):
                unreadable += 1
                self.stderr.write(f"{match.path}: {match.reason}")
                continue
            matches += 1
            unverified += match.unverified is not None
            disagreeing += bool(match.disagreements)
            self._print(match, options["json"])
        self.stderr.write(self.counted(matches, unverified, disagreeing, unreadable))

    def _import(self, system: System, folder: Path, options: dict[str, Any]) -> None:
        from audit import services as audit
        from audit.actions import Action
        from exports.importing import import_matches

        name = options["name"] or system.key
        result = import_matches(system, folder, name=name, on_match=lambda match: self._print(match, options["json"]))
        for unreadable in result.unreadable:
            self.stderr.write(f"{unreadable.path}: {unreadable.reason}")
        counts = (result.matches, result.unverified, result.disagreeing, len(result.unreadable))
        self.stderr.write(self.counted(*counts))
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
