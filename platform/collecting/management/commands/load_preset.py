"""`manage.py load_preset NAME [--agents A,B,…] [--seed N]`: create the ready-made studies of a published system."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from audit import services as audit
from audit.actions import Action
from collecting.errors import CollectingError
from collecting.models import Collection
from collecting.presets import MODELS, load, names

INVALID_ARGUMENTS = 2


class Command(BaseCommand):
    help = "Create a preset's studies or collections, ready to launch or start."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help=f"name of the preset, one of {', '.join(names())}")
        parser.add_argument(
            "--agents",
            default="",
            metavar="A,B,…",
            help=f"comma-separated agents; studies use the first one (default: {','.join(MODELS)})",
        )
        parser.add_argument(
            "--seed", type=int, default=1, metavar="N", help="random seed for the random part of a selection"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        agents = [agent for agent in options["agents"].split(",") if agent]
        try:
            with transaction.atomic():
                created = load(options["name"], agents=agents, seed=options["seed"])
                for item in created:
                    audit.record(action=Action.MADE, user=None, target=item, details={"preset": options["name"]})
        except CollectingError as error:
            raise CommandError(" ".join(str(error).split()), returncode=INVALID_ARGUMENTS) from None
        for item in created:
            if isinstance(item, Collection):
                self.stdout.write(f"{item.slug}: {item.planned:,} matches. Start it with: collect {item.slug} --resume")
            else:
                self.stdout.write(f"{item.slug}: draft study. Review and launch it in the admin.")
