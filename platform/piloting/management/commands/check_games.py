"""`manage.py check_games [GAME…]`: check the games' pages as participants see them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from games import registry
from games.errors import GameError
from games.examples import cases, each_once
from piloting import game_pages


class Command(BaseCommand):
    help = "Render every screen of every role at many points of a match, and fill in every form as a participant would."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("games", nargs="*", help="keys of the games to check, such as bargaining (default: all)")

    def handle(self, *args: Any, **options: Any) -> None:
        has_problems = False
        for key in options["games"] or registry.keys():
            try:
                problems = each_once((problem, case) for case in cases(key) for problem in game_pages.problems(case))
            except (GameError, AssertionError) as error:
                problems = [str(error)]
            has_problems = has_problems or bool(problems)
            self.stdout.write(f"{key}: pages {f'have {len(problems)} problems' if problems else 'ok'}")
            for problem in problems:
                self.stdout.write(f"  {problem}")
        if has_problems:
            sys.exit(1)
