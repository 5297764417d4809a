"""What Prolific reports about a study and its participants. These tables contain no participant's identifiers."""

from __future__ import annotations

import uuid
from decimal import Decimal
from urllib.parse import urlsplit

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

import sealing
from marketplaces.models import Account
from participants.models import Enrolment
from studies.models import Study

PRODUCTION_PAGES = "https://app.prolific.com"


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

    @property
    def pages(self) -> str:
        """The address of the pages that participants see on Prolific."""
        if not self.rehearsed:
            return PRODUCTION_PAGES
        url = urlsplit(self.account.base_address)
        return f"{url.scheme}://{url.netloc}"


class Authenticity(models.TextChoices):
    """Result of Prolific's authenticity check of a participant's free texts."""

    HIGH = "high", _("high")
    MIXED = "mixed", _("mixed")
    LOW = "low", _("low")
    UNKNOWN = "unknown", _("not told")


class Submission(models.Model):
    """What Prolific last reported about one participant's submission."""

    publication = models.ForeignKey(Publication, models.CASCADE, related_name="submissions")
    fingerprint = models.CharField(max_length=64, help_text=_("digest of its identifier on Prolific"))
    enrolment = models.OneToOneField(
        Enrolment, models.SET_NULL, null=True, blank=True, related_name="prolific_submission"
    )
    came = models.BooleanField(
        default=False, help_text=_("its participant arrived here; if no enrolment is linked, it has been erased since")
    )
    status = models.CharField(_("status"), max_length=30)
    code = models.CharField(_("code"), max_length=20, blank=True, help_text=_("which of the study's codes was entered"))
    return_asked = models.BooleanField(default=False)
    authenticity = models.CharField(_("authenticity"), max_length=12, blank=True, choices=Authenticity.choices)
    part = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text=_("percentage of the reward that Prolific was asked to pay")
    )
    started_at = models.DateTimeField(null=True, blank=True)
    heard_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("submission on Prolific")
        verbose_name_plural = _("submissions on Prolific")
        constraints = [models.UniqueConstraint(fields=["publication", "fingerprint"], name="one_row_per_submission")]

    def __str__(self) -> str:
        return f"{self.publication}: {self.status}"


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


class HookEvent(models.Model):
    """An event that was received: digests of its ID and its signature, so that it counts once."""

    name = models.CharField(max_length=64, unique=True)
    signature = models.CharField(max_length=64, unique=True)
    at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("event of a webhook")
        verbose_name_plural = _("events of webhooks")

    def __str__(self) -> str:
        return self.name[:10]


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
