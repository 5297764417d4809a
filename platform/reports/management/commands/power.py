"""`manage.py power STUDY [--data DATASET] [--effect NUMBER] [--draws 1000] [--seed 1] [--json]`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from matches.management.arguments import as_command_error, invalid_argument
from plans.reading import BadPlan
from reports.background import available
from reports.power import power_of, sentences
from studies.models import Study


class Command(BaseCommand):
    help = "Simulate how often a study's primary hypotheses will have p < .05, with the planned number of matches."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the short name of a study")
        parser.add_argument("--data", type=Path, metavar="DATASET", help="a dataset that shows how outcomes vary")
        parser.add_argument("--effect", type=float, help="in units of the outcome; without --data, of its SD")
        parser.add_argument("--draws", type=int, default=1000, help="simulated studies; default: 1000")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if not available():
            raise invalid_argument("Power needs the libraries of the analyses: run “make analysis” first.")
        from analysis.errors import DataError

        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            raise invalid_argument(f"There is no study “{options['study']}”.")
        if options["draws"] < 1:
            raise invalid_argument("--draws is at least 1.")
        sizes = {name: options[name] for name in ("effect", "draws", "seed")}
        with as_command_error(BadPlan, DataError):
            found = power_of(study, folder=options["data"], **sizes)
        if not found:
            raise invalid_argument("This study has no hypothesis. Plan one first.")
        if options["json"]:
            self.stdout.write(json.dumps(found))
        else:
            self.stdout.write("\n".join(line for each in found for line in sentences(each)))
