"""A study as offered on Prolific, its bonuses and webhooks. These tables contain no participant's identifiers."""

from __future__ import annotations

import uuid
from decimal import Decimal

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

import sealing
from marketplaces.models import Account
from studies.models import Study

KIND = "prolific"
"""`Identity.recruiter` of participants from Prolific."""


class Publication(models.Model):
    """A study as offered on Prolific."""

    class Status(models.TextChoices):
        """Prolific's own statuses, and two for the time before the study exists there."""

        MAKING = "MAKING", _("being made")
        UNCERTAIN = "UNCERTAIN", _("perhaps made")
        UNPUBLISHED = "UNPUBLISHED", _("draft on Prolific")
        SCHEDULED = "SCHEDULED", _("scheduled")
        PUBLISHING = "PUBLISHING", _("being published")
        ACTIVE = "ACTIVE", _("recruiting")
        PAUSED = "PAUSED", _("paused")
        AWAITING_REVIEW = "AWAITING REVIEW", _("all places taken, awaiting review")
        COMPLETED = "COMPLETED", _("completed")

    study = models.OneToOneField(Study, models.CASCADE, related_name="publication")
    account = models.ForeignKey(Account, models.PROTECT, related_name="publications", verbose_name=_("account"))
    internal_name = models.CharField(_("internal name on Prolific"), max_length=120, unique=True)
    prolific_id = models.CharField(_("the study's identifier on Prolific"), max_length=40, blank=True)
    status = models.CharField(_("status"), max_length=20, choices=Status.choices, default=Status.MAKING)
    name = models.CharField(_("name"), max_length=120)
    description = models.TextField(_("description"), max_length=5000)
    project = models.CharField(_("project"), max_length=40, blank=True)
    workspace = models.CharField(_("workspace"), max_length=40, blank=True)
    places = models.PositiveIntegerField(_("places"))
    minutes = models.PositiveIntegerField(_("estimated minutes"))
    devices = models.JSONField(_("devices"), default=list)
    reward = models.DecimalField(_("reward"), max_digits=8, decimal_places=2)
    currency = models.CharField(_("currency"), max_length=3)
    fee_rate = models.DecimalField(
        max_digits=6, decimal_places=4, default=Decimal(0), help_text=_("fees and taxes per unit of reward")
    )
    address = models.URLField(_("address of the study here"), max_length=300)
    requires_signature = models.BooleanField(_("only signed links"), default=True)
    codes = models.JSONField(_("completion codes"), default=dict)
    screen_out_reward = models.DecimalField(
        _("paid by Prolific to each screened-out participant"), max_digits=8, decimal_places=2, null=True, blank=True
    )
    pays_parts = models.BooleanField(_("partial payments are allowed"), default=False)
    treatments = models.JSONField(
        default=dict,
        blank=True,
        help_text=_("for separate addresses of treatments: each address's key and its cell's number"),
    )
    filters = models.JSONField(_("filters"), default=list, blank=True)
    said_at = models.DateTimeField(_("status last updated"), null=True, blank=True)
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("study on Prolific")
        verbose_name_plural = _("studies on Prolific")
        ordering = ["-made_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["prolific_id"], condition=~models.Q(prolific_id=""), name="one_publication_per_prolific_id"
            )
        ]

    def __str__(self) -> str:
        return self.study.title

    @property
    def is_there(self) -> bool:
        """Whether Prolific has the study, as far as is known."""
        return bool(self.prolific_id)

    @property
    def was_published(self) -> bool:
        return self.is_there and self.status != self.Status.UNPUBLISHED

    @property
    def rehearsed(self) -> bool:
        return self.account.place == Account.Place.REHEARSAL


class BonusOrder(models.Model):
    """A bonus being paid; it ensures that Prolific is asked to pay only once.

    `told_at` is set before Prolific is asked to pay, `taken_at` after it has accepted.
    """

    uid = models.UUIDField(unique=True)
    reference = models.CharField(max_length=60)
    shared_by = models.PositiveSmallIntegerField(default=1, help_text=_("how many bonuses its reference pays at once"))
    had_before = models.PositiveSmallIntegerField(
        help_text=_("number of bonuses of the same amount that existed before")
    )
    told_at = models.DateTimeField(null=True, blank=True)
    taken_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("bonus order")
        verbose_name_plural = _("bonus orders")

    def __str__(self) -> str:
        return str(self.uid)


_HOOKS = b"parley: secrets of Prolific's webhooks"


class Hook(models.Model):
    """A subscription to the events of one Prolific workspace."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    account = models.ForeignKey(Account, models.CASCADE, related_name="prolific_hooks")
    workspace = models.CharField(max_length=40)
    sealed_secret = models.TextField(blank=True, editable=False)
    subscribed_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        constraints = [models.UniqueConstraint(fields=["account", "workspace"], name="one_hook_per_workspace")]

    def __str__(self) -> str:
        return f"{self.account}: {self.workspace}"

    @sensitive_variables()
    def keep_secret(self, secret: str) -> None:
        """Store the secret that Prolific signs with, encrypted."""
        self.sealed_secret = sealing.seal(secret, purpose=_HOOKS)

    @sensitive_variables()
    def secret(self) -> str | None:
        """Return the secret that Prolific signs with; None if it can no longer be decrypted."""
        return sealing.unseal(self.sealed_secret, purpose=_HOOKS) if self.sealed_secret else None


class KeySet(models.Model):
    """The keys with which Prolific (or a stand-in) signs links, as last fetched."""

    address = models.URLField(max_length=200, unique=True)
    keys = models.JSONField(default=list)
    heard_at = models.DateTimeField(null=True, blank=True)
    asked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("key set")
        verbose_name_plural = _("key sets")

    def __str__(self) -> str:
        return self.address
