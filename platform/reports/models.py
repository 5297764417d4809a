"""Reports: analyses of exported datasets, stored for download."""

from __future__ import annotations

from typing import Any

from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from exports.models import DEAD_AFTER, Dataset, _storage


class Report(models.Model):
    """The analysis of one dataset: queued, running, ready, or failed with a reason. A new one replaces it."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        RUNNING = "running", _("running")
        READY = "ready", _("ready")
        FAILED = "failed", _("failed")

    dataset = models.OneToOneField(Dataset, models.CASCADE, related_name="report")
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.QUEUED)
    reason = models.CharField(_("reason"), max_length=400, blank=True)
    asked_at = models.DateTimeField(_("requested"), default=timezone.now)
    alive_at = models.DateTimeField(null=True, help_text=_("when the analysis last reported progress"))
    done = models.PositiveSmallIntegerField(_("analyses done"), default=0)
    expected = models.PositiveSmallIntegerField(_("analyses to do"), default=0)
    now = models.CharField(_("current analysis"), max_length=60, blank=True)
    file = models.FileField(storage=_storage, max_length=200, blank=True)
    size = models.PositiveBigIntegerField(_("bytes"), null=True)

    class Meta:
        verbose_name = _("report")
        verbose_name_plural = _("reports")

    def __str__(self) -> str:
        return f"{self.dataset}-report"

    @property
    def unfinished(self) -> bool:
        """Whether the report is queued or still running."""
        return self.state == self.State.QUEUED or (self.state == self.State.RUNNING and not self.abandoned)

    @property
    def percent(self) -> int:
        """The share of analyses done, in percent."""
        return 100 * self.done // self.expected if self.expected else 0

    @property
    def abandoned(self) -> bool:
        """Whether the process writing it has died."""
        return self.alive_at is not None and self.alive_at < timezone.now() - DEAD_AFTER


def delete_file(sender: type[Report], instance: Report, **_signal: Any) -> None:
    """Delete a report's file when the report is deleted."""
    if instance.file:
        transaction.on_commit(lambda: instance.file.delete(save=False))
