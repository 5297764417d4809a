"""Results of attention checks and quizzes. Append-only: what was shown, the answer and the verdict."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from participants.models import Enrolment


class Verdict(models.Model):
    """The result of one check of one participant."""

    class Check(models.TextChoices):
        CODE_WORD = "code_word", _("attention check")
        QUIZ = "quiz", _("comprehension quiz")

    enrolment = models.ForeignKey(Enrolment, models.CASCADE, related_name="verdicts")
    check_name = models.CharField(_("check"), max_length=40, choices=Check.choices)
    shown = models.JSONField(_("shown"))
    answered = models.JSONField(_("answered"))
    passed = models.BooleanField(_("passed"))
    at = models.DateTimeField(_("time"), default=timezone.now)

    class Meta:
        verbose_name = _("verdict")
        verbose_name_plural = _("verdicts")
        ordering = ["at", "id"]
        constraints = [models.UniqueConstraint(fields=["enrolment", "check_name"], name="one_verdict_per_check")]

    def __str__(self) -> str:
        return f"{self.get_check_name_display()}: {_('passed') if self.passed else _('failed')}"
