"""Labels that judge models gave to players' justifications, and the requests for them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from collecting.models import Collection


class Judgement(models.Model):
    """The labels that one judge gave to one text; a judge labels each text only once.

    Attributes:
        key: SHA-256 of judge, prompt and text.
        prompt_sha256: SHA-256 of everything sent to the judge except the text.
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


class JudgingRun(models.Model):
    """A request to judge a collection's justifications, and its progress.

    Attributes:
        judges: one or two models, such as "openai:gpt-4o-mini".
        cap: the most that this collection's judges may cost in total, in US dollars; None for no cap.
        wanted, known: the number of (text, judge) pairs, and how many of them are judged.
        holder, until: the lease of the worker that calls the judges.
    """

    class Status(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="judging_runs")
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
        verbose_name = _("judging run")
        verbose_name_plural = _("judging runs")
        ordering = ["-asked_at"]

    def __str__(self) -> str:
        return f"{self.collection} {', '.join(self.judges)}"
