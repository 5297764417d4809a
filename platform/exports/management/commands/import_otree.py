"""`manage.py import_otree FILE --to DIR [--app APP] [--factors FIELD,…] [--title TITLE] [--overwrite]`.

FILE is the file all_apps_wide.csv of an oTree session. DIR becomes a dataset for `manage.py analyse`; no database is
needed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from exports.errors import ExportError
from exports.otree_session import Session, write
from matches.management.arguments import as_command_error


class Command(BaseCommand):
    help = "Turn a session's wide export from oTree into a dataset for the analyses."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="oTree's all_apps_wide.csv")
        parser.add_argument("--to", metavar="DIR", type=Path, required=True)
        parser.add_argument(
            "--app", default="", help="the app whose groups are the matches; needed if there are several"
        )
        parser.add_argument(
            "--factors", default="", help="treatments, comma-separated: group.treatment, session.config.stake"
        )
        parser.add_argument("--title", default="", help="title of the dataset (default: the app's name)")
        parser.add_argument("--overwrite", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        factors = [name.strip() for name in options["factors"].split(",") if name.strip()]
        with as_command_error(ExportError):
            session = Session(options["file"], app=options["app"], factors=factors)
            write(session, options["to"], title=options["title"] or session.app, overwrite=options["overwrite"])
        self.stdout.write(
            f"{len(session.matches)} matches of {session.app} with {len(session.people)} people "
            f"({session.invited - len(session.people)} of {session.invited} never came)"
        )
