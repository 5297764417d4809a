"""`manage.py export_inspect STUDY --to DIR`: agents' transcripts as logs that the viewer of Inspect opens.

STUDY is the short name of a study or collection, or the folder of a dataset, for which no database is needed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from exports import inspecting, manifest
from exports.errors import ExportError
from matches.management.arguments import as_command_error


class Command(BaseCommand):
    help = "Write the transcripts of agents as logs of inspect_ai, one per game and agent; `inspect view` opens them."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "source", metavar="STUDY", help="the short name of a study or collection, or the folder of a dataset"
        )
        parser.add_argument("--to", required=True, metavar="DIR", type=Path, help="a new or empty folder")

    def handle(self, *args: Any, **options: Any) -> None:
        source, to = options["source"], options["to"]
        with as_command_error(ExportError):
            if (Path(source) / manifest.FILE).is_file():
                written = inspecting.write_logs(Path(source), to)
            else:
                written = self._export(source, to)
        for name, samples in written.items():
            self.stdout.write(f"{name}: {samples} samples")
        self.stdout.write(
            f"Written to {to}; inspect view --log-dir {to} shows them." if written else "No model made any call."
        )

    def _export(self, name: str, to: Path) -> dict[str, int]:
        from audit import services as audit
        from audit.actions import Action
        from exports import sources
        from exports.dataset import export

        source = sources.source_named(name)
        with tempfile.TemporaryDirectory() as scratch:
            export(source, Path(scratch), inspecting.FORMATS, overwrite=True, caller_works=True)
            written = inspecting.write_logs(Path(scratch), to)
        audit.record(action=Action.EXPORTED, user=None, target=source.parent)
        return written
