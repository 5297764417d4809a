"""`manage.py check_games [GAME…]`: the pages of the games, as people meet them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from games import registry
from games.errors import GameError
from games.examples import cases
from piloting import game_pages


class Command(BaseCommand):
    help = "Show every screen of every role at many moments, and fill in every form as a person would."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("games", nargs="*", help="keys of games; all, if none is named")

    def handle(self, *args: Any, **options: Any) -> None:
        wrong = False
        for key in options["games"] or registry.keys():
            try:
                found = [problem for case in cases(key) for problem in game_pages.problems(case)]
            except (GameError, AssertionError) as error:
                found = [str(error)]
            wrong = wrong or bool(found)
            self.stdout.write(f"{key}: pages {f'have {len(found)} problems' if found else 'ok'}")
            for problem in found:
                self.stdout.write(f"  {problem}")
        if wrong:
            sys.exit(1)
