"""`manage.py check_people`: recompute everybody's pay from the log alone."""

from __future__ import annotations

import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from studies import recomputing


class Command(BaseCommand):
    help = "Recomputes every participant's pay from the log and names each difference, for one study or for all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", nargs="?", help="the study's short name (default: all studies)")

    def handle(self, *, study: str | None, **options: Any) -> None:
        """Print each difference as a sentence.

        Raises:
            CommandError: there is any.
        """
        started_at, found = time.monotonic(), 0
        for discrepancy in recomputing.discrepancies(study):
            self.stdout.write(str(discrepancy))
            found += 1
        people = recomputing.count(study)
        summary = f"{people} participants checked in {time.monotonic() - started_at:.1f} s"
        if found:
            raise CommandError(f"{summary}: {found} differences.")
        self.stdout.write(self.style.SUCCESS(f"{summary}: all pay follows from the log."))
