"""What researchers and participants do in the tests of every marketplace."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from exports.tests import building
from marketplaces.models import Account
from participants.models import Enrolment
from payouts import deciding, paying
from payouts.models import LedgerRow, Transfer
from payouts.payers import Order
from rights.members import give
from rights.roles import Role
from studies.models import Study


def sign_in(study: Study, account: Account, *, role: Role | None, account_role: Role | None, name: str = "") -> Client:
    """Return the browser of a user who has these roles in the study and in the account."""
    user = User.objects.create_user(name or f"{role}-{account_role}", is_staff=True)
    for target, given in ((study, role), (account, account_role)):
        if given is not None:
            give(target, user=user, role=given, by=None)
    client = Client()
    client.force_login(user)
    return client


def finish(person: Enrolment, *, correctly: bool = True) -> Enrolment:
    """Go from the first page to the last."""
    building.consent(person)
    building.read_instructions(person)
    building.play(person)
    building.answer_quiz(person, correctly=correctly)
    person.refresh_from_db()
    return person


def pay_all(study: Study) -> dict[str, LedgerRow]:
    """Approve what is due, run the sweep as if much time had passed, and return the rows by reason."""
    rows = LedgerRow.objects.filter(study=study.slug)
    due = rows.filter(state__in=("due", "failed"))
    deciding.approve(study=study.slug, rows=list(due.values_list("pk", flat=True)), user=None)
    for _round in range(12):
        long_ago = timezone.now() - timedelta(hours=1)
        Transfer.objects.update(next_at=long_ago, until=long_ago, asked_at=long_ago)
        paying.pay_due()
        if not rows.filter(state__in=("approved", "sent")).exists():
            break
    return {row.reason: row for row in rows.all()}


def order(person: Enrolment, reason: str, amount: str | None = None, **changes: Any) -> Order:
    """Return the order that the ledger would have paid."""
    row, identity = person.ledger.get(reason=reason), person.identity
    own = Order(row.uid, reason, row.amount, row.currency, identity.worker, identity.details)
    return replace(own, **{**({"amount": Decimal(amount)} if amount else {}), **changes})
