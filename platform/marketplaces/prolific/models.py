"""Bonuses and webhooks of Prolific, and its keys. These tables contain no participant's identifiers."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

import sealing
from marketplaces.models import Account


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
