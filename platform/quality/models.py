"""How participants used their pages: figures that researchers may view and that decide nothing."""

from __future__ import annotations

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from participants.models import Enrolment


class PageView(models.Model):
    """One loading of a page in one of a participant's tabs, as the page itself counted it.

    Each loading creates its own `view`, which says nothing about the person. Times are in milliseconds. Of pasted text,
    only the number of characters is known.
    """

    enrolment = models.ForeignKey(Enrolment, models.CASCADE, related_name="page_views")
    position = models.PositiveSmallIntegerField(_("position"))
    kind = models.CharField(_("step"), max_length=20)
    view = models.CharField(max_length=16)
    first_at = models.DateTimeField(_("first received"), default=timezone.now)
    last_at = models.DateTimeField(_("last received"), default=timezone.now)
    open_ms = models.PositiveBigIntegerField(_("open"))
    visible_ms = models.PositiveBigIntegerField(_("visible"))
    hidden = models.PositiveIntegerField(_("times hidden"))
    blurred = models.PositiveIntegerField(_("times another window was in front"))
    pastes = models.PositiveIntegerField(_("pastes"))
    pasted = models.PositiveIntegerField(_("characters pasted"))

    class Meta:
        verbose_name = _("page view")
        verbose_name_plural = _("page views")
        constraints = [models.UniqueConstraint(fields=["enrolment", "position", "view"], name="one_row_per_page_view")]

    def __str__(self) -> str:
        return f"{self.enrolment}: {self.kind}"

    @property
    def open_seconds(self) -> float:
        return self.open_ms / 1000

    @property
    def visible_seconds(self) -> float:
        return self.visible_ms / 1000


class Behaviour(models.Model):
    """Input behaviour during one loading of a page, for the page itself or for one question of its game.

    `figures` holds the fields of `quality.behaviour.Figures`. No keys, text or pointer positions are recorded.
    """

    enrolment = models.ForeignKey(Enrolment, models.CASCADE, related_name="behaviour")
    position = models.PositiveSmallIntegerField(_("position"))
    kind = models.CharField(_("step"), max_length=20)
    view = models.CharField(max_length=16)
    question = models.CharField(_("question"), max_length=9, blank=True, help_text=_("number of the event it answers"))
    last_at = models.DateTimeField(_("last received"), default=timezone.now)
    figures = models.JSONField(default=dict)

    class Meta:
        verbose_name = _("behaviour on a page")
        verbose_name_plural = _("behaviour on pages")
        constraints = [
            models.UniqueConstraint(
                fields=["enrolment", "position", "view", "question"], name="one_row_per_view_and_question"
            )
        ]

    def __str__(self) -> str:
        return f"{self.enrolment}: {self.kind} {self.question}".strip()
