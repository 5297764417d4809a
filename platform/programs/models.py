"""Researchers' own programs that play seats, and the turns that they are asked about."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.validators import RegexValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from plans.agents import PROGRAM_NAME


class Program(models.Model):
    """A program that plays seats over the API. Only the SHA-256 of its secret is stored."""

    name = models.CharField(
        _("name"),
        max_length=60,
        unique=True,
        validators=[RegexValidator(rf"^{PROGRAM_NAME}\Z", _("Use lower-case letters, digits and hyphens."))],
        help_text=_("Plans name it as an agent's “program”."),
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="programs", verbose_name=_("owner"), editable=False
    )
    enabled = models.BooleanField(
        _("enabled"), default=True, help_text=_("If disabled, its secret opens nothing and its fallbacks play.")
    )
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    seen_at = models.DateTimeField(_("last seen"), null=True, editable=False)

    class Meta:
        verbose_name = _("program")
        verbose_name_plural = _("programs")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def seen_by(cls, user: Any) -> models.QuerySet[Program]:
        """Return the programs that a user may see: superusers all, others their own."""
        programs = cls.objects.all()
        return programs if user.is_superuser else programs.filter(owner=user.pk)


class ProgramTurn(models.Model):
    """One turn that a program is asked about, until it has given a legal move, used up its tries or its time.

    The match is referenced by its identifier, as calls do. What the seat may see is made from the match whenever the
    program asks for it, and is not stored here.

    Attributes:
        rung: 0 if it is the seat's own agent, 1 for its first fallback, and so on.
        attempts: what the program sent, in order (`programs.turns.Attempt`).
        tries: how many moves it may send.
    """

    uid = models.UUIDField(unique=True, default=uuid.uuid4)
    program = models.ForeignKey(Program, models.CASCADE, related_name="turns")
    match_uid = models.UUIDField()
    role = models.CharField(max_length=40)
    answering = models.PositiveIntegerField()
    rung = models.PositiveSmallIntegerField()
    opened_at = models.DateTimeField(default=timezone.now)
    deadline = models.DateTimeField()
    tries = models.PositiveSmallIntegerField()
    attempts: Any = models.JSONField(default=list)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["match_uid", "role", "answering", "rung"], name="one_program_turn"),
        ]
        indexes = [
            models.Index(fields=["program", "id"], condition=models.Q(closed_at=None), name="program_turn_open"),
            models.Index(fields=["closed_at"], name="program_turn_closed"),
        ]

    def __str__(self) -> str:
        return f"{self.match_uid} {self.role} {self.answering}"

    def seconds_left(self) -> float:
        return max(0.0, (self.deadline - timezone.now()) / timedelta(seconds=1))
