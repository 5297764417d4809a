"""Survey responses. Append-only: the questions as shown, and the answers."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from participants.models import Enrolment


class Response(models.Model):
    """One participant's answers to one survey, by question key; None for a skipped question."""

    class Survey(models.TextChoices):
        BEFORE = "before", _("before the game")
        AFTER = "after", _("after the game")

    enrolment = models.ForeignKey(Enrolment, models.CASCADE, related_name="surveys")
    survey = models.CharField(_("survey"), max_length=10, choices=Survey.choices)
    questions = models.JSONField(_("questions"))
    answers = models.JSONField(_("answers"))
    at = models.DateTimeField(_("time"), default=timezone.now)

    class Meta:
        verbose_name = _("survey response")
        verbose_name_plural = _("survey responses")
        ordering = ["at", "id"]
        constraints = [models.UniqueConstraint(fields=["enrolment", "survey"], name="one_response_per_survey")]

    def __str__(self) -> str:
        return f"{self.enrolment}: {self.get_survey_display()}"
