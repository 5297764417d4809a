"""Pilots: simulated participants who go through a study before real ones do.

A pilot stores the plan that a launch would have frozen at its start. Its participants have enrolments, matches
and check results like any others, but with the purpose "pilot" and without a placement, so nothing of a pilot
can enter a dataset, a quota or the ledger.
"""

from __future__ import annotations

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from participants.models import Enrolment, new_seed
from studies.fields import OrderedJSONField
from studies.models import Study

MAX_PEOPLE = 500


class Pilot(models.Model):
    """One run of simulated participants through a study as it was saved."""

    class Status(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")

    study = models.ForeignKey(Study, models.PROTECT, related_name="pilots", verbose_name=_("study"))
    number = models.PositiveIntegerField(_("number"))
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.RUNNING)
    document = OrderedJSONField(_("plan"), help_text=_("the draft in canonical form"))
    frozen = models.JSONField(default=dict, help_text=_("what the plan takes from the code"))
    sha256 = models.CharField(max_length=64)
    code_revision = models.CharField(max_length=64, blank=True)
    seed = models.BigIntegerField(default=new_seed)
    player = models.CharField(_("player for the participants"), max_length=200)
    people = models.PositiveIntegerField(
        _("participants"), validators=[MinValueValidator(1), MaxValueValidator(MAX_PEOPLE)]
    )
    created_at = models.DateTimeField(_("started"), default=timezone.now)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    holder = models.CharField(max_length=40, blank=True)
    until = models.DateTimeField(null=True, help_text=_("lease expires"))

    class Meta:
        verbose_name = _("pilot")
        verbose_name_plural = _("pilots")
        ordering = ["-created_at"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_pilot_per_number")]

    def __str__(self) -> str:
        return _("Pilot {number} of {study}").format(number=self.number, study=self.study.title)

    def get_absolute_url(self) -> str:
        return reverse("admin:piloting_pilot_change", args=[self.pk])

    @property
    def budget(self) -> str:
        """The budget label of the pilot's model calls."""
        return f"pilot:{self.study.slug}/{self.number}"

    @property
    def running(self) -> bool:
        return self.status == self.Status.RUNNING


class Walker(models.Model):
    """One simulated participant, with the plan and the outcome."""

    class Plan(models.TextChoices):
        FINISH = "finish", _("completes the study")
        WRONG_CODE = "wrong_code", _("types a wrong code word")
        SILENT = "silent", _("stops answering during the match")
        LEAVES = "leaves", _("leaves during the match")
        MISREADS = "misreads", _("misunderstands the rules")
        WRONG_QUIZ = "wrong_quiz", _("gives a wrong quiz answer")

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting")
        WALKING = "walking", _("under way")
        ARRIVED = "arrived", _("reached an ending")
        STUCK = "stuck", _("stuck")

    pilot = models.ForeignKey(Pilot, models.CASCADE, related_name="walkers")
    number = models.PositiveIntegerField(_("number"))
    cell = models.PositiveIntegerField(_("cell"), help_text=_("its number in the plan"))
    plan = models.CharField(_("plan"), max_length=12, choices=Plan.choices, default=Plan.FINISH)
    status = models.CharField(_("status"), max_length=12, choices=Status.choices, default=Status.WAITING)
    enrolment = models.OneToOneField(Enrolment, models.PROTECT, null=True, related_name="walker")
    attempts = models.PositiveSmallIntegerField(default=0)
    pages = models.JSONField(default=list, help_text=_("pages visited, see piloting.person"))
    payoff = models.FloatField(_("payoff"), null=True)
    owed = models.JSONField(default=dict, help_text=_("what a study would have paid, by reason"))
    problem = models.CharField(_("problem"), max_length=500, blank=True)

    class Meta:
        verbose_name = _("simulated participant")
        verbose_name_plural = _("simulated participants")
        ordering = ["pilot", "number"]
        constraints = [models.UniqueConstraint(fields=["pilot", "number"], name="one_walker_per_number")]

    def __str__(self) -> str:
        return f"{self.pilot} #{self.number}"
