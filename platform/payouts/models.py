"""The ledger: what is owed to whom and why. Paying only ever moves a row forward."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from participants.models import Enrolment


class LedgerRow(models.Model):
    """One amount owed to one participant for one reason; unique, so nobody is owed the same twice."""

    class State(models.TextChoices):
        DUE = "due", _("due")
        APPROVED = "approved", _("approved")
        SENT = "sent", _("sent")
        CONFIRMED = "confirmed", _("confirmed")
        FAILED = "failed", _("failed")

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    enrolment = models.ForeignKey(Enrolment, models.PROTECT, related_name="ledger")
    reason = models.CharField(_("reason"), max_length=20)
    amount = models.DecimalField(_("amount"), max_digits=10, decimal_places=2)
    currency = models.CharField(_("currency"), max_length=3)
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.DUE)
    workings = models.JSONField(_("workings"), help_text=_("the rule and the numbers that gave the amount"))
    created_at = models.DateTimeField(_("created"), default=timezone.now)

    class Meta:
        verbose_name = _("ledger row")
        verbose_name_plural = _("ledger")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["enrolment", "reason"], name="one_ledger_row_per_reason"),
            models.CheckConstraint(condition=models.Q(amount__gt=0), name="ledger_amount_is_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency} ({self.reason})"
