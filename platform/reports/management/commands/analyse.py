"""Analyses exported datasets and writes tables, figures and a report to a folder. Same as `python -m analysis`."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from analysis import command


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        command.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        arguments = command.Namespace(**options)
        if code := command.run(arguments, self.stdout.write, self.stderr.write):
            raise SystemExit(code)
