"""`manage.py study check|resolve|diff|export|import`: plans as files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from games.interface import Json
from plans.canonical import canonical
from plans.checking import Checked, check
from plans.comparing import compare
from plans.files import loads
from plans.reading import BadPlan, Fault, Reader
from plans.varying import level_key
from studies.filing import export_study, import_study
from studies.models import Study


class Command(BaseCommand):
    help = "Check, resolve, compare, export or import a study's plan."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, parser_class=type(parser))
        checks = actions.add_parser("check", help="list a plan's cells and faults")
        checks.add_argument("file")
        checks.add_argument("--json", action="store_true")
        resolves = actions.add_parser("resolve", help="print the concrete plan of one combination of levels")
        resolves.add_argument("file")
        resolves.add_argument("--factors", default="{}", help='the level of every factor: {"wording": "give", …}')
        resolves.add_argument("--json", action="store_true")
        differs = actions.add_parser("diff", help="list what differs between two plans")
        differs.add_argument("first")
        differs.add_argument("second")
        exports = actions.add_parser("export", help="write a study to a file")
        exports.add_argument("slug")
        exports.add_argument("--to", required=True)
        imports = actions.add_parser("import", help="make a draft from a file")
        imports.add_argument("file")

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['action']}")(options)

    def _check(self, options: dict[str, Any]) -> None:
        try:
            checked = check(_document(options["file"]))
        except BadPlan as error:
            checked = Checked(faults=error.faults)
        if options["json"]:
            self._print(checked.as_data())
        else:
            if checked.matches is not None:
                self.stdout.write(f"Cells: {len(checked.cells)}, matches: {checked.matches}")
            for fault in checked.faults:
                self.stdout.write(str(fault))
        if checked.faults:
            sys.exit(2)

    def _resolve(self, options: dict[str, Any]) -> None:
        try:
            reader = Reader(canonical(_document(options["file"])))
            levels = {name: level_key(level) for name, level in _object(options["factors"]).items()}
            _refuse_unknown(reader, levels)
            plan = reader.plan(levels)
        except BadPlan as error:
            for fault in error.faults:
                self.stderr.write(str(fault))
            sys.exit(2)
        self._print(plan.model_dump(mode="json", exclude={"factors", "cells"}))

    def _diff(self, options: dict[str, Any]) -> None:
        try:
            changes = compare(_document(options["first"]), _document(options["second"]))
        except BadPlan as error:
            self.stderr.write(str(error))
            sys.exit(2)
        for change in changes:
            self.stdout.write(str(change))
        if changes:
            sys.exit(1)

    def _export(self, options: dict[str, Any]) -> None:
        study = Study.objects.filter(slug=options["slug"]).first()
        if study is None:
            raise CommandError(f"There is no study “{options['slug']}”.", returncode=2)
        _name, content = export_study(study)
        try:
            Path(options["to"]).write_bytes(content)
        except OSError as error:
            raise CommandError(f"{options['to']} cannot be written: {error}", returncode=2) from None

    def _import(self, options: dict[str, Any]) -> None:
        try:
            study = import_study(_content(options["file"]))
        except BadPlan as error:
            for fault in error.faults:
                self.stderr.write(str(fault))
            sys.exit(2)
        self.stdout.write(study.slug)

    def _print(self, data: Json) -> None:
        self.stdout.write(json.dumps(data, ensure_ascii=False))


def _document(name: str) -> dict[str, Json]:
    """Return the document in a file.

    Raises:
        BadPlan: it cannot be read.
    """
    try:
        return loads(_content(name).decode("utf-8"))
    except UnicodeDecodeError:
        raise BadPlan([Fault("", f"{name} is not a text file.")]) from None


def _content(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        raise BadPlan([Fault("", f"{name} cannot be read: {error}")]) from None


def _object(text: str) -> dict[str, Json]:
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise CommandError("--factors takes a JSON object: the level of every factor.", returncode=2)
    return data


def _refuse_unknown(reader: Reader, levels: dict[str, str]) -> None:
    """Refuse missing factors, unknown ones and unknown levels, each by name."""
    if missing := [name for name in reader.factors if name not in levels]:
        raise CommandError(f"Levels are missing for: {', '.join(missing)}.", returncode=2)
    for name, level in levels.items():
        if name not in reader.factors:
            raise CommandError(f"There is no factor “{name}”.", returncode=2)
        if level not in reader.values[name]:
            known = ", ".join(reader.values[name])
            raise CommandError(f"“{level}” is not a level of {name}. Its levels are: {known}.", returncode=2)
