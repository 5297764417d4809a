"""When participants could be served: the last heartbeat of a web process, and the gaps between heartbeats."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Heartbeat(models.Model):
    """When a web process last had the database and Redis; one row for all processes."""

    ONLY = 1
    """The primary key of the row."""

    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.at}"


class Outage(models.Model):
    """A gap between two heartbeats. Rows are only added."""

    began_at = models.DateTimeField(_("from"))
    ended_at = models.DateTimeField(_("to"), db_index=True)

    class Meta:
        verbose_name = _("outage")
        verbose_name_plural = _("outages")
        constraints = [
            models.CheckConstraint(condition=models.Q(began_at__lt=models.F("ended_at")), name="outage_has_a_length")
        ]

    def __str__(self) -> str:
        return f"{self.began_at} – {self.ended_at}"
