"""What participants and researchers write to each other while a study runs."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from matches.models import Match
from participants.models import Enrolment

MAX_CHARACTERS = 2000


class Message(models.Model):
    """One message as one participant sent or received it.

    Only its times change; erasing the participant replaces its text.

    Attributes:
        audience: whom the researchers wrote to; "researchers" for a participant's question.
        sending: the same for all rows of what was written once to several participants.
        match: the participant's live match at that time.
        answered_at: questions: when the researchers answered or closed it; None while it is open.
        read_at: researchers' messages: when the participant's page first showed it.
    """

    class Audience(models.TextChoices):
        RESEARCHERS = "researchers", _("the researchers")
        PERSON = "person", _("one participant")
        GROUP = "group", _("the participants of a match")
        STUDY = "study", _("everybody in the study")

    words_of_people = ("text",)

    enrolment = models.ForeignKey(
        Enrolment, models.CASCADE, related_name="help_messages", verbose_name=_("participant")
    )
    audience = models.CharField(_("to"), max_length=12, choices=Audience.choices)
    sending = models.UUIDField(default=uuid.uuid4, editable=False)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+", verbose_name=_("researcher")
    )
    match = models.ForeignKey(Match, models.SET_NULL, null=True, related_name="+", verbose_name=_("match"))
    text = models.TextField(_("text"), max_length=MAX_CHARACTERS)
    at = models.DateTimeField(_("time"), default=timezone.now)
    answered_at = models.DateTimeField(_("answered"), null=True)
    read_at = models.DateTimeField(_("read"), null=True)

    class Meta:
        verbose_name = _("message between a participant and the researchers")
        verbose_name_plural = _("messages between participants and the researchers")
        ordering = ["pk"]
        indexes = [
            models.Index(
                fields=["enrolment"],
                condition=models.Q(audience="researchers", answered_at=None),
                name="help_question_open",
            )
        ]

    def __str__(self) -> str:
        return f"{self.enrolment}: {self.text[:40]}"

    @property
    def is_question(self) -> bool:
        return self.audience == self.Audience.RESEARCHERS

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save a new message; refuse to change an existing one."""
        if self.pk is not None:
            raise TypeError("A message is never changed.")
        super().save(*args, **kwargs)
