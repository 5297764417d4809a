"""The ledger: who is owed how much and why, and the journal of every change.

A row's state changes only together with a posting (`payouts.posting`), and the sums of postings and rows
always agree (`payouts.books`). The database refuses to change or delete postings, to delete rows, and to
change the amounts owed (`audit.guard`).
"""

from __future__ import annotations

import uuid
from typing import Any, NoReturn

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from participants.models import Enrolment


class Unchangeable(Exception):
    """An attempt to change or delete a posting."""


class LedgerRow(models.Model):
    """One amount owed to one participant for one reason; unique, so nobody is owed the same twice.

    Attributes:
        study, recruiter: the study's short name and the kind of recruiter the participant came from, which
            determine how they are paid; kept here because erasing a participant deletes their identity.
        fee: the recruiter's fee on top of the amount, estimated at approval; None if unknown.
        problem: the problem behind the state, for the researcher; empty if there is none.
        by_hand: a user marked it as paid.
        rejected: it is written off because the work was rejected.
    """

    class State(models.TextChoices):
        DUE = "due", _("due")
        APPROVED = "approved", _("approved")
        SENT = "sent", _("sent")
        CONFIRMED = "confirmed", _("confirmed")
        FAILED = "failed", _("failed")
        UNCLEAR = "unclear", _("unclear")
        WRITTEN_OFF = "written_off", _("written off")
        ELSEWHERE = "elsewhere", _("paid elsewhere")

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    enrolment = models.ForeignKey(Enrolment, models.PROTECT, related_name="ledger")
    study = models.SlugField(_("study"), max_length=60, default="", editable=False)
    recruiter = models.CharField(_("recruiter"), max_length=20, blank=True, editable=False)
    reason = models.CharField(_("reason"), max_length=20)
    amount = models.DecimalField(_("amount"), max_digits=10, decimal_places=2)
    currency = models.CharField(_("currency"), max_length=3)
    fee = models.DecimalField(_("fee"), max_digits=10, decimal_places=2, null=True, editable=False)
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.DUE)
    problem = models.CharField(_("problem"), max_length=300, blank=True, editable=False)
    by_hand = models.BooleanField(_("paid by hand"), default=False, editable=False)
    rejected = models.BooleanField(_("rejected"), default=False, editable=False)
    workings = models.JSONField(_("workings"), help_text=_("the rule and the numbers that gave the amount"))
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    approved_at = models.DateTimeField(_("approved"), null=True, editable=False)
    approved_by = models.CharField(_("approved by"), max_length=150, blank=True, editable=False)
    sent_at = models.DateTimeField(_("sent"), null=True, editable=False)
    settled_at = models.DateTimeField(
        _("settled"), null=True, editable=False, help_text=_("when it was confirmed, written off or paid elsewhere")
    )

    class Meta:
        verbose_name = _("ledger row")
        verbose_name_plural = _("ledger rows")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["enrolment", "reason"], name="one_ledger_row_per_reason"),
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="ledger_amount_is_positive"),
        ]
        indexes = [models.Index(fields=["study", "state"], name="ledger_of_study")]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency} ({self.reason})"


class Account(models.TextChoices):
    """The accounts of a study's books in one currency. Their balances sum to zero.

    Earnings start on a cost account and move from account to account with the state of their row. Earnings that an
    outside experiment pays have a separate cost account.
    """

    COST = "cost", _("earned by participants")
    COST_ELSEWHERE = "cost_elsewhere", _("earned, paid elsewhere")
    OWED = "owed", _("owed")
    APPROVED = "approved", _("approved")
    IN_TRANSIT = "in_transit", _("in transit")
    PAID = "paid", _("paid")
    FAILED = "failed", _("failed")
    UNCLEAR = "unclear", _("unclear")
    WRITTEN_OFF = "written_off", _("written off")
    ELSEWHERE = "elsewhere", _("paid elsewhere")


class AppendOnly(models.QuerySet["Posting"]):
    """Postings can only be read and added; the database enforces this too (`audit.guard`)."""

    def update(self, **changes: Any) -> NoReturn:
        raise Unchangeable("Postings are never changed.")

    def bulk_update(self, *args: Any, **options: Any) -> NoReturn:
        raise Unchangeable("Postings are never changed.")

    def delete(self) -> NoReturn:
        raise Unchangeable("Postings are never deleted.")


class Posting(models.Model):
    """One transfer of a ledger row's amount between two accounts. Never changed.

    Attributes:
        number: 1, 2, 3… per row; the first records the earning.
        debit, credit: the accounts it leaves and enters.
        by, by_id: the user's name and key; empty and None for automatic postings.
        why: the reason, without naming a participant.
    """

    row = models.ForeignKey(LedgerRow, models.PROTECT, related_name="postings")
    number = models.PositiveIntegerField()
    debit = models.CharField(_("from account"), max_length=16, choices=Account.choices)
    credit = models.CharField(_("to account"), max_length=16, choices=Account.choices)
    amount = models.DecimalField(_("amount"), max_digits=10, decimal_places=2)
    currency = models.CharField(_("currency"), max_length=3)
    at = models.DateTimeField(_("time"), default=timezone.now)
    by = models.CharField(_("by"), max_length=150, blank=True)
    by_id = models.BigIntegerField(null=True)
    why = models.CharField(_("why"), max_length=300, blank=True)

    objects = models.Manager.from_queryset(AppendOnly)()

    class Meta:
        verbose_name = _("posting")
        verbose_name_plural = _("postings")
        ordering = ["row", "number"]
        constraints = [
            models.UniqueConstraint(fields=["row", "number"], name="one_posting_per_number"),
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="posting_amount_is_positive"),
            models.CheckConstraint(condition=~models.Q(debit=models.F("credit")), name="posting_moves_something"),
        ]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency}: {self.get_debit_display()} → {self.get_credit_display()}"

    def save(self, *args: Any, **options: Any) -> None:
        """Add the posting.

        Raises:
            Unchangeable: it has been saved before.
        """
        if not self._state.adding:
            raise Unchangeable("Postings are never changed.")
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> NoReturn:
        raise Unchangeable("Postings are never deleted.")


class Transfer(models.Model):
    """Progress in paying an approved row, saved before each step (`payouts.paying`).

    Attributes:
        asked_at: time just before the recruiter was last asked to pay; None if it certainly was not asked.
        accepted: the recruiter confirmed that it received the order.
        reference: the recruiter's identifier of the prepared payment.
        holder, until: the lease on this row and when it expires.
        next_at: when to try next.
        failures: consecutive attempts in which the recruiter could not be reached or the participant was not done.
    """

    row = models.OneToOneField(LedgerRow, models.CASCADE, related_name="transfer")
    reference = models.CharField(max_length=200, blank=True)
    asked_at = models.DateTimeField(null=True)
    accepted = models.BooleanField(default=False)
    holder = models.CharField(max_length=32, blank=True)
    until = models.DateTimeField(default=timezone.now)
    next_at = models.DateTimeField(default=timezone.now)
    failures = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name = _("transfer")
        verbose_name_plural = _("transfers")
        indexes = [models.Index(fields=["next_at"], name="transfer_next")]

    def __str__(self) -> str:
        return str(self.row_id)


class Limit(models.Model):
    """The limit on a study's pay in one currency, fees included. Approving locks its row."""

    study = models.SlugField(max_length=60)
    currency = models.CharField(max_length=3)
    most = models.DecimalField(_("limit"), max_digits=12, decimal_places=2, null=True)

    class Meta:
        verbose_name = _("study's pay limit")
        verbose_name_plural = _("studies' pay limits")
        constraints = [
            models.UniqueConstraint(fields=["study", "currency"], name="one_limit_per_study_and_currency"),
            models.CheckConstraint(
                condition=models.Q(most__isnull=True) | models.Q(most__gte=0), name="limit_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study}: {self.most} {self.currency}"
