"""`manage.py check_books`: check that ledger and journal agree, and that every amount follows from the log."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from payouts import books
from payouts.models import Account


class Command(BaseCommand):
    help = "Checks that ledger and journal agree and that every amount follows from the log, for one study or for all."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", nargs="?", help="the study's short name (default: all studies)")

    def handle(self, *, study: str | None, **options: Any) -> None:
        """Print the balances.

        Raises:
            CommandError: the books contain errors, which the message lists.
        """
        for (study_name, currency), accounts in sorted(books.balances(study).items()):
            account_balances = [f"{Account(name).label} {amount}" for name, amount in accounts.items() if amount]
            self.stdout.write(f"{study_name} ({currency}): {', '.join(account_balances)}")
        if discrepancies := list(books.check_everything(study)):
            raise CommandError("\n".join(map(str, discrepancies)))
        self.stdout.write(self.style.SUCCESS("The books are in order."))
