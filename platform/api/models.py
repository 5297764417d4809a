"""Tokens with which other programs read and control a study."""

from __future__ import annotations

import secrets
import string
from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies.models import Study

KEY_LENGTH = 12
_KEY_LETTERS = string.ascii_lowercase + string.digits


def new_key() -> str:
    """Return a new identifier for a token; it is not secret."""
    return "".join(secrets.choice(_KEY_LETTERS) for _i in range(KEY_LENGTH))


class Scope(models.TextChoices):
    """A scope of a token; no scope includes another."""

    READ = "read", _("read the study, its matches and results")
    EXPORT = "export", _("request and download datasets")
    MANAGE = "manage", _("pause and resume the study")


class Token(models.Model):
    """Access to one study for one program. Only the SHA-256 of the secret is stored.

    A token never allows more than the user who created it may do at that moment, and is deleted with that user.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="api_tokens", verbose_name=_("study"))
    name = models.CharField(_("name"), max_length=60, help_text=_("Which program uses it, and where."))
    key = models.CharField(max_length=KEY_LENGTH, unique=True, default=new_key, editable=False)
    digest = models.CharField(max_length=64, editable=False)
    scopes = models.JSONField(_("scopes"), default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="api_tokens",
        verbose_name=_("created by"),
        editable=False,
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    expires_at = models.DateTimeField(_("expires"))
    revoked_at = models.DateTimeField(_("revoked"), null=True, editable=False)
    last_used_at = models.DateTimeField(_("last used"), null=True, editable=False)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="one_api_token_per_name")]

    def __str__(self) -> str:
        return self.name

    def expired(self, now: datetime | None = None) -> bool:
        return self.expires_at <= (now or timezone.now())
