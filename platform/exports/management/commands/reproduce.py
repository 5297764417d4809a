"""`manage.py reproduce SYSTEM DIR --to OUT`: a published system's tables from its published data, beside those printed.

Imports into the database of the settings, which must hold nothing of the system yet; `make reproduce` gives it a new
one. OUT gets the datasets, comparison.csv and comparison.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from exports import systems
from exports.errors import ExportError
from matches.management.arguments import as_command_error, invalid_argument


class Command(BaseCommand):
    help = "Make a published system's tables again from its published data, and compare the printed values."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("system", metavar="SYSTEM", help=f"one of {', '.join(systems.keys())}")
        parser.add_argument("folder", metavar="DIR", type=Path)
        parser.add_argument("--to", metavar="OUT", type=Path, required=True, help="the folder to write")

    def handle(self, *args: Any, **options: Any) -> None:
        from exports import reproducing

        folder, to = options["folder"], options["to"]
        if not folder.is_dir():
            raise invalid_argument(f"{folder} is not a folder.")
        with as_command_error(ExportError):
            system = systems.system_named(options["system"])
            result, compared = reproducing.reproduced(system, folder, to)
        to.mkdir(parents=True, exist_ok=True)
        (to / "comparison.csv").write_bytes(reproducing.as_csv(compared))
        (to / "comparison.md").write_text(reproducing.as_markdown(system, compared), encoding="utf-8")
        self.stdout.write(
            f"{result.matches} matches read, {result.unverified} unverified, {result.disagreeing} with other results, "
            f"{len(result.unreadable)} unreadable"
        )
        for row in reproducing.rows(compared):
            if row["cause"] == reproducing.UNEXPLAINED:
                self.stdout.write("{table}, {what}: printed {printed}, here {here}, {cause}".format_map(row))
        for line in reproducing.summary(compared):
            self.stdout.write(line)
        self.stdout.write(f"Written to {to}.")
