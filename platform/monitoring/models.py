"""The monitor's tables: sums of finished work, so that it is not read again, and matches ended by researchers."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from matches.models import Match
from participants.states import State
from studies.models import Cell, Study, Version


class CellTally(models.Model):
    """How many participants of a version's cell ended in a state; counts only placements marked as tallied.

    Attributes:
        cell_number: 0 before the draw of a cell.
        released: how many of them gave their place back. Participants who completed do so if their match does not
            fill the cell because someone else moved in it.
    """

    version = models.ForeignKey(Version, models.CASCADE, related_name="tallies")
    cell_number = models.PositiveIntegerField()
    state = models.CharField(max_length=20, choices=State.choices)
    number = models.PositiveIntegerField(default=0)
    released = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["version", "cell_number", "state"], name="one_tally_per_cell_and_state")
        ]


class OutcomeTally(models.Model):
    """Sums of one outcome over a cell's finished matches whose participants all completed.

    Attributes:
        outcome: "payoff", the mean over the match's people, or a metric of the game.
        truths: how many of the values were booleans, counted as 1 and 0.
    """

    cell = models.ForeignKey(Cell, models.CASCADE, related_name="outcome_tallies")
    outcome = models.CharField(max_length=80)
    number = models.PositiveIntegerField(default=0)
    truths = models.PositiveIntegerField(default=0)
    total = models.FloatField(default=0)
    squares = models.FloatField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cell", "outcome"], name="one_tally_per_cell_and_outcome")]


class TimeTally(models.Model):
    """How many tallied participants of a study arrived and completed in the minutes from `at` on."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="time_tallies")
    at = models.DateTimeField()
    arrived = models.PositiveIntegerField(default=0)
    completed = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "at"], name="one_tally_per_study_and_time")]


class SpendTally(models.Model):
    """The cost of one budget's calls on one day, in US dollars; covers calls before the watermark."""

    budget_of = models.CharField(max_length=200, blank=True)
    day = models.DateField(db_index=True)
    calls = models.PositiveIntegerField(default=0)
    unpriced = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=6, default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["budget_of", "day"], name="one_tally_per_budget_and_day")]


class Watermark(models.Model):
    """A time by name: up to which something is tallied (tallying takes the row's lock), or of the last test write."""

    name = models.CharField(max_length=20, unique=True)
    until = models.DateTimeField(null=True)


class HandEnding(models.Model):
    """A match ended by a researcher, with the reason. Never changed."""

    match = models.OneToOneField(Match, models.PROTECT, related_name="hand_ending")
    who = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    reason = models.CharField(_("reason"), max_length=500)
    at = models.DateTimeField(_("time"), default=timezone.now)

    class Meta:
        verbose_name = _("match ended by a researcher")
        verbose_name_plural = _("matches ended by researchers")
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.match}: {self.reason[:40]}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save a new record; refuse to change an existing one."""
        if self.pk is not None:
            raise TypeError("A record of an ended match is never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        """Always refuse: these records are permanent."""
        raise TypeError("A record of an ended match is never deleted.")
