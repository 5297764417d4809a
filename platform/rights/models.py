"""Memberships in studies and collections."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from rights.roles import Role


class Membership(models.Model):
    """One user's role; subclasses add a foreign key with `related_name="members"` to the study or collection."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("person"))
    role = models.CharField(_("role"), max_length=10, choices=Role.choices)
    since = models.DateTimeField(_("since"), default=timezone.now)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.user}: {self.get_role_display()}"
