"""Datasets that are written in the background and kept for download."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.core.files.storage import Storage, storages
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies.models import Study

SILENT = timedelta(seconds=60)
"""A writer that was not heard from for this long is gone."""


def _storage() -> Storage:
    return storages["datasets"]


class Dataset(models.Model):
    """One dataset of a study: asked for, being written, ready, or failed with a reason."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        WRITING = "writing", _("being written")
        READY = "ready", _("ready")
        FAILED = "failed", _("failed")

    uid = models.UUIDField(_("identifier"), unique=True, default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, models.CASCADE, related_name="datasets")
    state = models.CharField(_("state"), max_length=12, choices=State.choices, default=State.QUEUED)
    reason = models.CharField(_("reason"), max_length=400, blank=True)
    formats = models.JSONField(_("formats"), default=list)
    asked_at = models.DateTimeField(_("asked for"), default=timezone.now)
    alive_at = models.DateTimeField(null=True, help_text=_("when its writer was last heard from"))
    ended_at = models.DateTimeField(_("ended"), null=True)
    file = models.FileField(storage=_storage, max_length=200, blank=True)
    size = models.PositiveBigIntegerField(_("bytes"), null=True)
    sha256 = models.CharField(max_length=64, blank=True)
    counts = models.JSONField(_("rows per file"), default=dict)

    class Meta:
        verbose_name = _("dataset")
        verbose_name_plural = _("datasets")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study"],
                condition=models.Q(state__in=["queued", "writing"]),
                name="one_unfinished_dataset_per_study",
            )
        ]

    def __str__(self) -> str:
        return f"{self.study.slug}-{self.asked_at:%Y%m%d-%H%M%S}"

    @property
    def abandoned(self) -> bool:
        """Whether its writer is gone."""
        return (
            self.state == self.State.WRITING and self.alive_at is not None and self.alive_at < timezone.now() - SILENT
        )
