"""`manage.py import_glee DIR [--json] [--dry-run] [--name NAME]`: games in the published GLEE layout.

The same as `import_published glee DIR`, but for lines without disagreements, since that layout prints no results.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from exports.importing import ImportResult
from exports.management.commands import import_published
from exports.published import Imported


class Command(import_published.Command):
    help = "Import games in the published GLEE layout; metrics are recomputed by the paper's formulas."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.set_defaults(system="glee")
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument("--json", action="store_true", help="one JSON object per line and game")
        parser.add_argument("--dry-run", action="store_true", help="read and compute, but store nothing")
        parser.add_argument("--name", default="glee", help="the collections are called NAME-FAMILY (glee)")

    def as_line(self, match: Imported) -> dict[str, Any]:
        line = match.as_line()
        del line["disagreements"]
        return line

    def counted(self, result: ImportResult) -> str:
        return (
            f"{result.matches} games read, {result.unverified} of them unverified; {len(result.unreadable)} unreadable"
        )
