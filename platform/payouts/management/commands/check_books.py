"""`manage.py check_books`: whether the sums of the ledger and its journal agree."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payouts import books
from payouts.models import Account


class Command(BaseCommand):
    help = "Checks that the sums of the ledger and its journal agree; of one study or of all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", nargs="?", help="the study's short name; without it, all")

    def handle(self, *, study: str | None, **options: Any) -> None:
        """Print the balances.

        Raises:
            CommandError: something does not agree; says what.
        """
        for (of, currency), accounts in sorted(books.balances(study).items()):
            held = [f"{Account(name).label} {amount}" for name, amount in accounts.items() if amount]
            self.stdout.write(f"{of} ({currency}): {', '.join(held)}")
        if wrong := books.check(study):
            raise CommandError("\n".join(map(str, wrong)))
        self.stdout.write(self.style.SUCCESS("The books are in order."))
