"""`manage.py verify_dataset DIR`: exits with 0 if everything agrees, 1 on any difference, 2 without a dataset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from exports.errors import Unreadable
from exports.processes import settle
from exports.verify import examine
from matches.management.arguments import as_command_error

DIFFERENT = 1


class Command(BaseCommand):
    help = "Check a dataset: hash its files, replay every match and compare. Needs no database."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", type=Path, help="the folder of a dataset")

    def handle(self, *args: Any, **options: Any) -> None:
        settle()
        with as_command_error(Unreadable):
            verification = examine(options["folder"])
        for difference in verification.differences:
            self.stdout.write(difference)
        summary = (
            f"{verification.files} files, {verification.matches} matches and {verification.decisions} decisions checked"
        )
        if verification.differences:
            raise CommandError(f"{summary}: {len(verification.differences)} differences.", returncode=DIFFERENT)
        self.stdout.write(f"{summary}: everything agrees.")
