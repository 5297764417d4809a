"""Participants waiting for others, and the groups formed."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from matches.models import Match
from participants.models import Enrolment


class Hall(models.Model):
    """The lobby of one version of a study; groups are formed under its row lock."""

    key = models.CharField(max_length=60, unique=True)

    def __str__(self) -> str:
        return self.key


class Group(models.Model):
    """The participants of one match: seated and asked whether they are ready, and then in the match.

    A group of which not everyone was ready is deleted.

    Attributes:
        number: counts the pool's groups whose match has opened; None before.
        match: None while the participants are asked whether they are ready.
        until: when the time for that ends, without the outages since `made_at`.
    """

    hall = models.ForeignKey(Hall, models.CASCADE, related_name="groups")
    pool = models.CharField(_("pool"), max_length=250)
    number = models.PositiveIntegerField(_("number"), null=True)
    match = models.OneToOneField(Match, models.CASCADE, null=True, related_name="lobby_group")
    made_at = models.DateTimeField(_("created"), default=timezone.now)
    until = models.DateTimeField(_("until"), default=timezone.now)

    class Meta:
        verbose_name = _("group")
        verbose_name_plural = _("groups")
        constraints = [models.UniqueConstraint(fields=["hall", "pool", "number"], name="one_group_per_number")]
        indexes = [models.Index(fields=["hall", "pool"], condition=models.Q(match=None), name="group_asked")]

    def __str__(self) -> str:
        return f"{self.hall}/{self.pool}/{self.number}"


class Place(models.Model):
    """A participant's place in a lobby. Participants of one pool can play with each other.

    Attributes:
        kind: the kind of seat the participant may take; copied here so that listing places loads no steps.
        since: when the waiting began; what it pays is counted from here.
        queued_at: the place in the queue; later than `since` for a participant who missed a start.
        until: when the waiting time ends, without the outages since then.
        heard_at: when the page last sent a request; None if it was closed.
        group: None until a group is formed. A place with `left_at` and without a group found no partners.
        role: the seat, from the moment at which the group is complete; of the last group if that was dissolved.
        ready_at: when the participant said that they are ready; None before.
        missed: how many starts the participant missed because they did not say so in time.
        setback: why the last group was dissolved.
    """

    class Setback(models.TextChoices):
        """Why a group was dissolved, as far as it concerns this participant."""

        MISSED = "missed", _("missed the start")
        OTHERS = "others", _("another participant missed it")

    enrolment = models.ForeignKey(Enrolment, models.CASCADE, related_name="lobby_places")
    step = models.PositiveSmallIntegerField(help_text=_("the number of the lobby's step in the enrolment's path"))
    hall = models.ForeignKey(Hall, models.CASCADE, related_name="places")
    pool = models.CharField(_("pool"), max_length=250)
    kind = models.CharField(_("kind of seat"), max_length=40)
    since = models.DateTimeField(_("since"), default=timezone.now)
    queued_at = models.DateTimeField(_("queued"), default=timezone.now)
    until = models.DateTimeField(_("until"))
    heard_at = models.DateTimeField(_("last heard from"), null=True, default=timezone.now)
    left_at = models.DateTimeField(_("left"), null=True, blank=True)
    group = models.ForeignKey(Group, models.CASCADE, null=True, blank=True, related_name="places")
    role = models.CharField(_("seat"), max_length=40, blank=True)
    ready_at = models.DateTimeField(_("ready"), null=True, blank=True)
    missed = models.PositiveSmallIntegerField(_("missed starts"), default=0)
    setback = models.CharField(_("last group dissolved"), max_length=10, choices=Setback.choices, blank=True)

    class Meta:
        verbose_name = _("place in a lobby")
        verbose_name_plural = _("places in lobbies")
        constraints = [models.UniqueConstraint(fields=["enrolment", "step"], name="one_place_per_step")]
        indexes = [
            models.Index(fields=["hall", "pool"], condition=models.Q(group=None, left_at=None), name="place_waiting")
        ]

    def __str__(self) -> str:
        return f"{self.enrolment} in {self.hall}/{self.pool}"
