"""`manage.py reset_second_factor USER`: for users who lost their phone and recovery codes."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from signin import second_factor


class Command(BaseCommand):
    help = "Removes a user's second factor. They set up a new one at the next sign-in."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", metavar="USER", help="the username")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no user named “{options['user']}”.")
        existed = second_factor.remove(user, by=None)
        self.stdout.write("Second factor removed." if existed else "This user has no second factor.")
