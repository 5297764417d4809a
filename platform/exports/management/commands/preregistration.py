"""`manage.py preregistration STUDY [--to FILE]`"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from exports.preregistering import preregistration
from matches.management.arguments import as_command_error, invalid_argument
from plans.reading import BadPlan
from studies.models import Study


class Command(BaseCommand):
    help = "Write a study's preregistration: answers to AsPredicted's questions and for OSF's sections."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the short name of a study")
        parser.add_argument("--to", default="-", metavar="FILE", help="a text file; by default, it is printed")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            raise invalid_argument(f"There is no study “{options['study']}”.")
        with as_command_error(BadPlan):
            text = preregistration(study)
        if options["to"] == "-":
            self.stdout.write(text, ending="")
            return
        try:
            Path(options["to"]).write_text(text, encoding="utf-8")
        except OSError as error:
            raise invalid_argument(f"{options['to']} cannot be written: {error}") from None
