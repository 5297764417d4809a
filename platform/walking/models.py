"""Walks through a draft: one visitor sees it as a participant of a cell, and nothing of it is kept.

A walk has an enrolment and matches like a participant, but no placement, and its matches have a purpose of their own,
so nothing of it can enter a quota, the ledger, the monitor or a dataset. Deleting the walk deletes all of it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from lobby.models import Hall
from matches.models import Match
from participants.models import Enrolment, new_seed, new_token
from plans.canonical import version_hash
from studies.fields import OrderedJSONField
from studies.models import Cell, Study, Version


class Link(models.Model):
    """A study's link for co-authors, who need no account. It always leads to the newest draft."""

    study = models.OneToOneField(Study, models.CASCADE, related_name="walk_link", verbose_name=_("study"))
    token = models.CharField(max_length=64, unique=True, default=new_token, editable=False)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("link for co-authors")
        verbose_name_plural = _("links for co-authors")

    def __str__(self) -> str:
        return str(_("Link for co-authors of {study}")).format(study=self.study)

    def get_absolute_url(self) -> str:
        return reverse("walking:shared", args=[self.token])


class Walk(models.Model):
    """One visitor's walk.

    Attributes:
        link: by which a co-author came; None for researchers.
        key: opens its page.
        document, frozen, seed: the draft as it was when the walk began, as in a `Version`.
        cell: its number in the plan.
        role: the visitor's seat in the first game; empty for the first one that people take.
        real_models: whether the draft's models play, rather than scripts.
        left_at: when its page was closed; None while it is open.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="walks", verbose_name=_("study"))
    link = models.ForeignKey(Link, models.CASCADE, null=True, blank=True, related_name="walks")
    key = models.CharField(max_length=64, unique=True, default=new_token, editable=False)
    document = OrderedJSONField(_("plan"))
    frozen = models.JSONField(default=dict)
    seed = models.BigIntegerField(default=new_seed)
    cell = models.PositiveIntegerField(_("cell"))
    role = models.CharField(_("role"), max_length=40, blank=True)
    real_models = models.BooleanField(_("real models"), default=False)
    enrolment = models.OneToOneField(Enrolment, models.SET_NULL, null=True, related_name="walk")
    began_at = models.DateTimeField(_("began"), default=timezone.now)
    left_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("walk through")
        verbose_name_plural = _("walks through")
        ordering = ["-began_at"]

    def __str__(self) -> str:
        return f"{self.study} {self.cell}"

    def get_absolute_url(self) -> str:
        return reverse("walking:walk", args=[self.key])

    @cached_property
    def planned_cell(self) -> Cell:
        """Its cell as a launch of the draft would have made it, unsaved."""
        version = Version(
            study=self.study,
            number=0,
            document=self.document,
            sha256=version_hash(self.document),
            frozen=self.frozen,
            seed=self.seed,
        )
        return Cell.planned(version, self.cell)

    @property
    def hall(self) -> str:
        """The lobby in which nobody else waits."""
        return f"walk-{self.pk}"


def forget(enrolment: Enrolment | None, hall: str) -> None:
    """Delete an enrolment of a walk with everything that belongs to it."""
    if enrolment is not None:
        Match.objects.filter(seats__enrolment=enrolment).delete()
        Enrolment.objects.filter(pk=enrolment.pk).delete()
    Hall.objects.filter(key=hall).delete()


@receiver(post_delete, sender=Walk)
def _forget(sender: type[Walk], instance: Walk, **_signal: Any) -> None:
    forget(instance.enrolment, f"walk-{instance.pk}")
