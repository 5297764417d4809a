"""Our own qualifications on Mechanical Turk."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from marketplaces.models import Account
from participants.models import Enrolment


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
