"""Tasks on Mechanical Turk, and our own qualifications."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from marketplaces.models import Account
from participants.models import Enrolment
from studies.models import Study

KEY = "mturk"
"""`Identity.recruiter` of workers from Mechanical Turk."""


class Hit(models.Model):
    """One task that a study offers: what was ordered, and its last known status on mTurk."""

    class State(models.TextChoices):
        """mTurk's HITStatus values, and the states before a task has one."""

        ORDERED = "ordered", _("not confirmed yet")
        REFUSED = "refused", _("refused")
        ASSIGNABLE = "Assignable", _("available")
        UNASSIGNABLE = "Unassignable", _("all assignments taken")
        REVIEWABLE = "Reviewable", _("ready for review")
        REVIEWING = "Reviewing", _("being reviewed")
        DISPOSED = "Disposed", _("deleted")

    study = models.ForeignKey(Study, models.PROTECT, related_name="hits")
    account = models.ForeignKey(Account, models.PROTECT, related_name="hits")
    token = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    hit_id = models.CharField(_("HIT ID"), max_length=64, unique=True, null=True)
    state = models.CharField(_("state"), max_length=14, choices=State.choices, default=State.ORDERED)
    title = models.CharField(_("title"), max_length=128)
    description = models.TextField(_("description"), max_length=2000)
    keywords = models.CharField(_("keywords"), max_length=1000, blank=True)
    reward = models.DecimalField(_("reward"), max_digits=8, decimal_places=2)
    assignments = models.PositiveIntegerField(_("assignments"))
    lifetime = models.PositiveIntegerField(help_text=_("seconds for which the task is available"))
    duration = models.PositiveIntegerField(help_text=_("seconds from accepting the task to submitting it"))
    auto_approval = models.PositiveIntegerField(help_text=_("seconds until mTurk approves automatically"))
    frame_height = models.PositiveIntegerField(default=0, help_text=_("in pixels; 0 fits the frame to the window"))
    demands = models.JSONField(default=dict, help_text=_("approved_percent, approved_number, countries, rest_hours"))
    expires_at = models.DateTimeField(_("available until"), null=True)
    pending = models.PositiveIntegerField(_("in progress"), default=0)
    available = models.PositiveIntegerField(_("available"), default=0)
    completed = models.PositiveIntegerField(_("decided"), default=0)
    problem = models.CharField(_("problem"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("published"), default=timezone.now)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)

    class Meta:
        verbose_name = _("task on Mechanical Turk")
        verbose_name_plural = _("tasks on Mechanical Turk")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.title

    @property
    def over_at(self) -> datetime | None:
        """The latest time at which a worker who accepted the task can submit it."""
        return self.expires_at + timedelta(seconds=self.duration) if self.expires_at else None


class Qualification(models.Model):
    """A qualification of our own, held by workers who began to play a game within the last `hours` hours."""

    account = models.ForeignKey(Account, models.CASCADE, related_name="qualifications")
    game = models.CharField(max_length=40)
    hours = models.PositiveSmallIntegerField()
    qualification_id = models.CharField(max_length=64)

    class Meta:
        verbose_name = _("qualification")
        verbose_name_plural = _("qualifications")
        constraints = [models.UniqueConstraint(fields=["account", "game", "hours"], name="one_qualification_of_a_kind")]

    def __str__(self) -> str:
        return f"{self.game}, {self.hours} h"


class Granted(models.Model):
    """Record of a qualification granted for an enrolment."""

    qualification = models.ForeignKey(Qualification, models.CASCADE, related_name="granted")
    enrolment = models.ForeignKey(Enrolment, models.CASCADE, related_name="+")

    class Meta:
        verbose_name = _("granted qualification")
        verbose_name_plural = _("granted qualifications")
        constraints = [models.UniqueConstraint(fields=["qualification", "enrolment"], name="granted_once")]

    def __str__(self) -> str:
        return f"{self.qualification}: {self.enrolment}"
