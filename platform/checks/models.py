"""Results of attention checks and quizzes. Append-only: what was shown, the answer and the verdict."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from participants.models import Enrolment


class Verdict(models.Model):
    """The result of one check of one participant in one stage of their path.

    `tries` has every answer in order, the last one included.
    """

    class Check(models.TextChoices):
        CODE_WORD = "code_word", _("attention check")
        COMPREHENSION = "comprehension", _("comprehension quiz")
        QUIZ = "quiz", _("quiz after the game")

    words_of_people = ("answered", "tries")

    enrolment = models.ForeignKey(Enrolment, models.CASCADE, related_name="verdicts")
    check_name = models.CharField(_("check"), max_length=40, choices=Check.choices)
    stage = models.CharField(_("stage"), max_length=40, blank=True)
    shown = models.JSONField(_("shown"))
    answered = models.JSONField(_("answered"))
    passed = models.BooleanField(_("passed"))
    tries = models.JSONField(_("tries"), default=list)
    at = models.DateTimeField(_("time"), default=timezone.now)

    class Meta:
        verbose_name = _("verdict")
        verbose_name_plural = _("verdicts")
        ordering = ["at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["enrolment", "check_name", "stage"], name="one_verdict_per_check")
        ]

    @property
    def decides(self) -> bool:
        """Whether failing excludes the participant; those who failed the comprehension quiz may have played on."""
        return self.check_name != self.Check.COMPREHENSION

    def __str__(self) -> str:
        return f"{self.get_check_name_display()}: {_('passed') if self.passed else _('failed')}"
