"""Who is told of alerts in a study, and the alerts found."""

from __future__ import annotations

from typing import Any

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

import sealing
from studies.models import Study

_SECRETS = b"parley webhook secrets"


class Kind(models.TextChoices):
    """What researchers may be told of."""

    MODEL = "model", _("a model does not respond")
    BUDGET = "budget", _("80 % of a spending cap are used")
    COMPLETE = "complete", _("every cell is full")
    PAYMENTS = "payments", _("payments wait for you")
    ABSENCE = "absence", _("many participants are absent")
    QUESTION = "question", _("a participant's question waits for an answer")


SET_UP = "set_up"
"""The kind of the first notice to an address, which shows that it arrives."""


class Alert(models.Model):
    """One occasion of an alert in a study, recorded once.

    Attributes:
        subject: what it is about, such as the endpoint; `number` counts its occasions.
        facts: what the notice says: numbers and names that researchers chose, nothing of participants.
        seen_at: when it was last found. After `finding.OVER_AFTER`, the same is a new occasion.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="alerts")
    kind = models.CharField(max_length=12)
    subject = models.CharField(max_length=200, blank=True)
    number = models.PositiveIntegerField(default=1)
    facts = models.JSONField(default=dict)
    found_at = models.DateTimeField(default=timezone.now)
    seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "kind", "subject", "number"], name="one_alert_per_occasion")
        ]

    def __str__(self) -> str:
        return f"{self.study}: {self.kind} {self.subject}".strip()


class Recipient(models.Model):
    """An e-mail address or webhook that is told of a study's alerts, and why the last notice did not arrive.

    Attributes:
        told: the alerts that it was sent.
        next_at: when the next notice may be sent; None after an address was refused, until it is saved again.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="notice_recipients", verbose_name=_("study"))
    address = models.CharField(
        _("address"), max_length=300, help_text=_("An e-mail address, or a webhook that begins with https://.")
    )
    kinds = models.JSONField(_("tell it when"), default=list)
    absence_percent = models.PositiveSmallIntegerField(
        _("absent participants, in percent"),
        default=20,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text=_("“Many” are at least two people and this share of those in matches now."),
    )
    sealed_secret = models.TextField(blank=True, editable=False)
    told = models.ManyToManyField(Alert, editable=False, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    next_at = models.DateTimeField(null=True, default=timezone.now, editable=False)
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    problem = models.CharField(_("why the last notice did not arrive"), max_length=300, blank=True, editable=False)
    problem_at = models.DateTimeField(_("when"), null=True, editable=False)

    class Meta:
        verbose_name = _("address for notices")
        verbose_name_plural = _("addresses for notices")
        ordering = ["study", "address"]
        constraints = [models.UniqueConstraint(fields=["study", "address"], name="one_recipient_per_address")]

    def __str__(self) -> str:
        return self.address

    @property
    def is_webhook(self) -> bool:
        return self.address.startswith(("https://", "http://"))

    @sensitive_variables()
    def keep_secret(self, secret: str) -> None:
        """Store the webhook's signing secret, encrypted."""
        self.sealed_secret = sealing.seal(secret, purpose=_SECRETS)

    @sensitive_variables()
    def secret(self) -> str | None:
        """Return the signing secret; None if there is none or it cannot be read."""
        return sealing.unseal(self.sealed_secret, purpose=_SECRETS) if self.sealed_secret else None

    def start_again(self) -> None:
        """Let notices be sent from now on, whatever happened before; the row is not saved."""
        restart: dict[str, Any] = {"next_at": timezone.now(), "attempts": 0, "problem": "", "problem_at": None}
        for name, value in restart.items():
            setattr(self, name, value)
