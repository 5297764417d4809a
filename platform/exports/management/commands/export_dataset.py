"""`manage.py export_dataset STUDY --to DIR [--formats csv,jsonl] [--overwrite]`"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from exports.dataset import FORMATS, export
from exports.errors import ExportError
from games.errors import GameError
from studies.models import Study

WRONG = 2


class Command(BaseCommand):
    help = "Writes the dataset of a study into a folder: tables, transcripts, codebook, flow and manifest."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the study's short name, as in its link")
        parser.add_argument("--to", required=True, metavar="DIR", type=Path, help="an empty or new folder")
        parser.add_argument("--formats", default=",".join(FORMATS), help=f"of {', '.join(FORMATS)}, parted by commas")
        parser.add_argument("--overwrite", action="store_true", help="replace the dataset that is in DIR")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            known = ", ".join(Study.objects.order_by("slug").values_list("slug", flat=True)) or "none"
            raise CommandError(f"There is no study “{options['study']}”; there are: {known}.", returncode=WRONG)
        formats = [name for name in options["formats"].split(",") if name]
        try:
            made = export(study, options["to"], formats, overwrite=options["overwrite"])
        except (ExportError, GameError) as error:
            raise CommandError(" ".join(str(error).split()), returncode=WRONG) from None
        flow = made.flow
        self.stdout.write(
            f"{made.flow['matches_in_dataset']} matches in the dataset; {flow['arrived']} participants arrived, "
            f"{flow['in_dataset']} are in it, {sum(flow['excluded'].values())} are not"
            + "".join(f"\n  {reason}: {count}" for reason, count in flow["excluded"].items())
            + f"\nWritten to {options['to']}"
        )
