"""`manage.py reset_second_factor USER`: for who has lost the phone and the recovery codes."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from signin import second_factor


class Command(BaseCommand):
    help = "Forgets the second factor of a user, who sets up a new one at the next sign-in."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", metavar="USER", help="the user's name")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user “{options['user']}”.")
        had = second_factor.remove(user, by=None)
        self.stdout.write("It is forgotten." if had else "There was none.")
