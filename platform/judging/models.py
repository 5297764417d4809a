"""What models said as judges of the reasons that players gave, and who asked for it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from collecting.models import Collection


class Judgement(models.Model):
    """The labels that one judge gave to one text; it is never asked about it again.

    Attributes:
        key: SHA-256 of judge, prompt and text.
        prompt_sha256: of what the judge was sent besides the text.
    """

    key = models.CharField(max_length=64, unique=True)
    judge = models.CharField(_("judge"), max_length=200)
    prompt_sha256 = models.CharField(max_length=64)
    text_sha256 = models.CharField(max_length=64)
    labels = models.JSONField(_("labels"))
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("judgement")
        verbose_name_plural = _("judgements")

    def __str__(self) -> str:
        return f"{self.judge} {self.text_sha256[:12]}"


class Sitting(models.Model):
    """Somebody's wish that a collection's justifications be judged, and how far that has come.

    Attributes:
        judges: specifications of one or two models, such as "openai:gpt-4o-mini".
        cap: US dollars that the judges of this collection may cost in all; None: any amount.
        wanted, known: (text, judge) pairs, and those of them that are judged.
        holder, until: the lease of the worker that asks.
    """

    class Status(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="sittings")
    judges = models.JSONField(_("judges"))
    cap = models.DecimalField(_("cap"), max_digits=10, decimal_places=2, null=True)
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.RUNNING)
    wanted = models.PositiveIntegerField(default=0)
    known = models.PositiveIntegerField(default=0)
    problem = models.CharField(_("problem"), max_length=500, blank=True)
    holder = models.CharField(max_length=40, blank=True)
    until = models.DateTimeField(null=True)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, editable=False)
    asked_at = models.DateTimeField(_("asked"), default=timezone.now)

    class Meta:
        verbose_name = _("sitting")
        verbose_name_plural = _("sittings")
        ordering = ["-asked_at"]

    def __str__(self) -> str:
        return f"{self.collection} {', '.join(self.judges)}"
