"""`manage.py replay_calls [BUDGET]`: feeds the models' stored answers back; exit 1 where they give another match."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from llm_agents.replaying import differences
from matches.models import Match
from opponents.services import records_of


class Command(BaseCommand):
    help = "Reads every stored answer of the models again: it must lead to the same move, or break the same rules."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "budget", nargs="?", metavar="BUDGET", help="study:NAME or collection:NAME; everything if nothing is said"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        matches = Match.objects.order_by("pk")
        if options["budget"]:
            matches = matches.filter(budget_of=options["budget"])
        played = answers = wrong = 0
        for match in matches.iterator(chunk_size=100):
            records = records_of(match.uid)
            if not records:
                continue
            played += 1
            answers += sum(record.get("answer") is not None for turn in records.values() for record in turn)
            for difference in differences(match.configured(), match.log(), records):
                wrong += 1
                self.stdout.write(f"match {match.uid}: {difference}")
        said = f"{answers} answers of {played} matches read again"
        if wrong:
            raise CommandError(f"{said}: {wrong} differences.", returncode=1)
        self.stdout.write(f"{said}: everything agrees.")
