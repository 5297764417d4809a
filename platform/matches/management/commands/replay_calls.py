"""`manage.py replay_calls [BUDGET]`: parse the models' stored answers again; exit 1 if any gives another move."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from llm_agents.replaying import differences
from matches.models import Match
from opponents.services import records_of


class Command(BaseCommand):
    help = "Parses every stored model answer again: it must give the same move or break the same rules."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "budget", nargs="?", metavar="BUDGET", help="study:NAME or collection:NAME (default: everything)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        matches = Match.objects.order_by("pk")
        if options["budget"]:
            matches = matches.filter(budget_of=options["budget"])
        played = answers = mismatches = 0
        for match in matches.iterator(chunk_size=100):
            records = records_of(match.uid)
            if not records:
                continue
            played += 1
            answers += sum(record.get("answer") is not None for turn in records.values() for record in turn)
            for difference in differences(match.configured(), match.log(), records):
                mismatches += 1
                self.stdout.write(f"match {match.uid}: {difference}")
        summary = f"{answers} answers in {played} matches checked"
        if mismatches:
            raise CommandError(f"{summary}: {mismatches} differences.", returncode=1)
        self.stdout.write(f"{summary}: everything agrees.")
