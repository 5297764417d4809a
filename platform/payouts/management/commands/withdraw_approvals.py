"""`manage.py withdraw_approvals`: run after a restored backup, whose approved payments may have been paid since."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from django.core.management.base import BaseCommand

from payouts import deciding
from payouts.models import LedgerRow


class Command(BaseCommand):
    help = "Withdraws the approval of every payment that has not been sent, so that a person decides again."

    def handle(self, **options: Any) -> None:
        rows = LedgerRow.objects.filter(state=LedgerRow.State.APPROVED).order_by("study").values_list("study", "pk")
        withdrawn = sum(
            deciding.withdraw(study=study, rows=[pk for _study, pk in group], user=None)
            for study, group in groupby(rows, key=lambda row: row[0])
        )
        self.stdout.write(f"{withdrawn} approvals withdrawn.")
