"""`manage.py load_preset NAME [--agents A,B,…] [--seed N]`: create a ready-made study or collection."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import transaction

from audit import services as audit
from audit.actions import Action
from collecting.models import Collection
from collecting.presets import load, names
from matches.management.arguments import as_command_error
from plans.reading import BadPlan


class Command(BaseCommand):
    help = "Create a ready-made study or collection of a published system, ready to launch or start."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help=f"name of the preset, one of {', '.join(names())}")
        parser.add_argument(
            "--agents",
            default="",
            metavar="A,B,…",
            help="comma-separated agents, in place of its models",
        )
        parser.add_argument("--seed", type=int, metavar="N", help="random seed of what it draws")

    def handle(self, *args: Any, **options: Any) -> None:
        agents = [agent for agent in options["agents"].split(",") if agent]
        with as_command_error(BadPlan), transaction.atomic():
            item = load(options["name"], agents=agents, seed=options["seed"])
            audit.record(action=Action.MADE, user=None, target=item, details={"preset": options["name"]})
        if isinstance(item, Collection):
            self.stdout.write(f"{item.slug}: {item.planned:,} matches. Start it with: collect {item.slug} --resume")
        else:
            self.stdout.write(f"{item.slug}: draft study. Review and launch it in the admin.")
