"""`manage.py export_dataset STUDY --to DIR [--formats csv,jsonl] [--include excluded] [--times hour] [--overwrite]`"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from audit import services as audit
from audit.actions import Action
from exports import processes, sources
from exports.dataset import export
from exports.errors import ExportError
from exports.formats import DEFAULT_FORMATS, FORMATS
from exports.times import TIMES
from matches.management.arguments import as_command_error


class Command(BaseCommand):
    help = "Write the dataset of a study to a folder: tables, transcripts, codebook, flow and manifest."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", metavar="STUDY", help="the short name of a study or collection")
        parser.add_argument("--to", required=True, metavar="DIR", type=Path, help="a new or empty folder")
        parser.add_argument(
            "--formats", default=",".join(DEFAULT_FORMATS), help=f"comma-separated formats, of {', '.join(FORMATS)}"
        )
        parser.add_argument(
            "--include", choices=["excluded"], help="include excluded rows, flagged with reason and stage"
        )
        parser.add_argument(
            "--times", choices=TIMES, default="exact", help="cut points in time to the minute or hour; default: exact"
        )
        parser.add_argument("--overwrite", action="store_true", help="replace the dataset in DIR")

    def handle(self, *args: Any, **options: Any) -> None:
        formats = [name for name in options["formats"].split(",") if name]
        processes.settle()
        with as_command_error(ExportError):
            source = sources.source_named(options["study"])
            manifest = export(
                source,
                options["to"],
                formats,
                overwrite=options["overwrite"],
                excluded=options["include"] == "excluded",
                times=options["times"],
                caller_works=True,
            )
        audit.record(action=Action.EXPORTED, user=None, target=source.parent)
        flow = manifest.flow
        self.stdout.write(
            f"{flow['matches_in_dataset']} of {flow['matches']['seen']} matches are in the dataset"
            + _reasons(flow["matches"]["excluded"])
            + f"\n{flow['in_dataset']} of {flow['arrived']} participants are in the dataset"
            + _reasons(flow["excluded"])
            + f"\nWritten to {options['to']}"
        )


def _reasons(excluded: Mapping[str, int]) -> str:
    return "".join(f"\n  {reason}: {count}" for reason, count in excluded.items())
