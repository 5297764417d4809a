"""Answers to questions. Append-only: the questions as shown, and the answers."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from participants.models import Enrolment


class Response(models.Model):
    """One participant's answers to one stage of questions, by name; None for a skipped question.

    `questions` has the shown questions in the order shown, with their options in the order shown.
    """

    words_of_people = ("answers",)

    enrolment = models.ForeignKey(Enrolment, models.CASCADE, related_name="surveys")
    stage = models.CharField(_("stage"), max_length=40)
    before_game = models.BooleanField(_("before the game"))
    questions = models.JSONField(_("questions"))
    answers = models.JSONField(_("answers"))
    at = models.DateTimeField(_("time"), default=timezone.now)

    class Meta:
        verbose_name = _("survey response")
        verbose_name_plural = _("survey responses")
        ordering = ["at", "id"]
        constraints = [models.UniqueConstraint(fields=["enrolment", "stage"], name="one_response_per_stage")]

    def __str__(self) -> str:
        return f"{self.enrolment}: {self.stage}"
