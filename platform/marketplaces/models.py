"""Marketplace accounts, and the account through which each study recruits."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_variables

import sealing
from marketplaces import kinds
from recruiters.models import Identity
from rights.models import Membership
from sealing.addresses import check_address
from studies.models import Study

_PURPOSE = b"parley: credentials of marketplaces"


def kind_choices() -> list[tuple[str, Any]]:
    return [(key, kinds.get(key).title) for key in kinds.keys()]


def check_stand_in(address: str) -> None:
    """Check a rehearsal's address; public installations accept only the hosts that are configured (LOCAL_HOSTS)."""
    check_address(address)
    if settings.BEHIND_TLS and urlsplit(address).hostname not in settings.LOCAL_HOSTS:
        raise ValidationError(
            _("Rehearsals can use only known hosts. The administrator of this installation can add more (LOCAL_HOSTS).")
        )


class Account(models.Model):
    """A marketplace account. Its members may use it: editors recruit and pay with it."""

    class Place(models.TextChoices):
        PRODUCTION = "production", _("production: real people and real money")
        SANDBOX = "sandbox", _("the marketplace's own sandbox")
        REHEARSAL = "rehearsal", _("a rehearsal with Parley's stand-in")

    title = models.CharField(_("name"), max_length=80, unique=True)
    kind = models.CharField(_("marketplace"), max_length=20, choices=kind_choices)
    place = models.CharField(_("environment"), max_length=12, choices=Place.choices, default=Place.REHEARSAL)
    address = models.CharField(
        _("address"),
        max_length=200,
        blank=True,
        validators=[check_stand_in],
        help_text=_("The stand-in's address; for rehearsals only."),
    )
    sealed_credentials = models.TextField(editable=False, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("marketplace account")
        verbose_name_plural = _("marketplace accounts")
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    @property
    def base_address(self) -> str:
        """Address of the API without a trailing slash, or "" if the marketplace does not have this environment."""
        if self.place == self.Place.REHEARSAL:
            return self.address.rstrip("/")
        return kinds.get(self.kind).addresses.get(self.place, "").rstrip("/")

    @sensitive_variables()
    def keep_credentials(self, credentials: dict[str, str]) -> None:
        """Store these credentials, encrypted, in place of the old ones."""
        self.sealed_credentials = sealing.seal(json.dumps(credentials), purpose=_PURPOSE)


@sensitive_variables()
def credentials_of(account: Account) -> dict[str, str] | None:
    """Return the account's credentials, or None if none are stored or they can no longer be read.

    This is a function rather than a method so that templates and lists cannot call it by name.
    """
    unsealed = sealing.unseal(account.sealed_credentials, purpose=_PURPOSE) if account.sealed_credentials else None
    return json.loads(unsealed) if unsealed is not None else None


class Member(Membership):
    """A user's role in an account."""

    account = models.ForeignKey(Account, models.CASCADE, related_name="members")

    class Meta:
        verbose_name = _("account member")
        verbose_name_plural = _("account members")
        constraints = [models.UniqueConstraint(fields=["account", "user"], name="one_part_per_account")]


class Recruitment(models.Model):
    """The account through which a study recruits and pays, and when the marketplace was last asked about the study."""

    study = models.OneToOneField(Study, models.CASCADE, related_name="recruitment")
    account = models.ForeignKey(Account, models.PROTECT, related_name="recruitments", verbose_name=_("account"))
    asked_at = models.DateTimeField(_("last requested"), null=True, blank=True, editable=False)
    answered_at = models.DateTimeField(_("last updated"), null=True, blank=True, editable=False)
    next_at = models.DateTimeField(default=timezone.now, editable=False)
    failures = models.PositiveIntegerField(_("consecutive failures"), default=0, editable=False)
    problem = models.CharField(_("problem"), max_length=300, blank=True, editable=False)

    class Meta:
        verbose_name = _("recruitment")
        verbose_name_plural = _("recruitments")
        indexes = [models.Index(fields=["next_at"], name="recruitment_next")]

    def __str__(self) -> str:
        return self.study.slug

    @property
    def has_arrivals(self) -> bool:
        """Whether anyone has arrived through the study's current recruiter."""
        return Identity.objects.filter(study=self.study.slug, recruiter=self.account.kind).exists()

    @property
    def desk(self) -> str:
        """Name of the page on which the study recruits, or "" if its marketplace has none."""
        return kinds.get(self.account.kind).desk
