"""What the agents did to reach their moves: one row per call of a model."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Call(models.Model):
    """One call of a language model, whether it led to a move or not.

    The match is named by its identifier, not by a foreign key: records outlive what they are about.
    """

    match_uid = models.UUIDField(_("match"), db_index=True)
    role = models.CharField(_("role"), max_length=40)
    answering = models.PositiveIntegerField(_("answering event"))
    at = models.DateTimeField(_("time"), default=timezone.now)
    cost = models.DecimalField(
        _("cost"), max_digits=12, decimal_places=6, null=True, help_text=_("US dollars; empty where no price is known")
    )
    record = models.JSONField(_("record"), help_text=_("everything sent and received, without keys"))

    class Meta:
        verbose_name = _("model call")
        verbose_name_plural = _("model calls")
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.match_uid} {self.role} {self.answering}"
